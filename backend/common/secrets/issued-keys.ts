/*
 * Keys that are recognised by how they begin. Each row states facts about an issuer's keys: the beginning, the characters that follow, and
 * how many there are at least. The facts are from the issuers' documentation and from the rules of gitleaks 8
 * (https://github.com/gitleaks/gitleaks, MIT); lengths are a little lower here, because a false positive costs little and a key that is
 * sent costs a lot.
 */

const CHARACTERS = {
  hex: 'a-fA-F0-9',
  capitals: 'A-Z0-9',
  letters: 'A-Za-z0-9',
  base64: 'A-Za-z0-9+/=',
  url: 'A-Za-z0-9_-',
  dotted: 'A-Za-z0-9_.=-',
} as const;

/** What the key is, how it begins (a pattern), the characters of the rest, and the least length of the rest. */
type IssuedKey = readonly [kind: string, beginning: string, characters: keyof typeof CHARACTERS, length: number];

const ISSUED_KEYS: readonly IssuedKey[] = [
  // OpenAI (sk-, sk-proj-), Anthropic (sk-ant-), OpenRouter (sk-or-), DeepSeek (sk-)
  ['a model provider\'s key', 'sk-', 'url', 20],
  ['a model provider\'s key', '(?:pplx|gsk|xai|fw|csk|r8)[-_]', 'letters', 32],
  ['a Google key', 'AIza', 'url', 34],
  ['a Google key', 'ya29\\.', 'url', 30],
  ['a Google key', 'GOCSPX-', 'url', 20],
  ['a Hugging Face token', '(?:hf|api_org)_', 'letters', 30],
  ['an AWS key', '(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)', 'capitals', 16],
  ['an AWS key', 'ABSK', 'base64', 80],
  ['an AWS key', 'bedrock-api-key-', 'base64', 24],
  ['a GitHub token', 'gh[pousr]_', 'letters', 30],
  ['a GitHub token', 'github_pat_', 'url', 22],
  ['a GitLab token', 'gl(?:pat|cbt|dt|ffct|ft|imt|agent|oas|ptt|rt|soat)-', 'dotted', 18],
  ['a GitLab token', 'GR1348941', 'url', 18],
  ['a GitLab token', '_gitlab_session=', 'letters', 30],
  ['a Slack token', 'xox[abeoprs](?:\\.xox[bp])?-', 'url', 10],
  ['a Slack token', '(?:xapp|XAPP)-', 'url', 20],
  ['an npm token', 'npm_', 'letters', 30],
  ['a PyPI token', 'pypi-', 'url', 50],
  ['a RubyGems key', 'rubygems_', 'hex', 40],
  ['a Clojars token', 'CLOJARS_', 'letters', 50],
  ['a Stripe key', '[sr]k_(?:live|test|prod)_', 'letters', 10],
  ['a Stripe key', 'whsec_', 'base64', 24],
  ['a Square token', 'sq0(?:atp|csp|idp)-', 'url', 20],
  ['a Square token', 'EAAA', 'url', 40],
  ['a Facebook token', 'EAA[MC]', 'letters', 80],
  ['a Shopify token', 'shp(?:at|ca|pa|ss)_', 'hex', 30],
  ['a Twilio key', '(?:SK|AC)(?=[a-f0-9]{32}\\b)', 'hex', 32],
  ['a SendGrid key', 'SG\\.', 'dotted', 40],
  ['a Brevo key', 'xkeysib-', 'url', 60],
  ['a Mailgun key', '(?:key|pubkey)-(?=[a-f0-9]{32}\\b)', 'hex', 32],
  ['a DigitalOcean token', 'do[opr]_v1_', 'hex', 60],
  ['a Databricks token', 'dapi', 'hex', 32],
  ['a Doppler token', 'dp\\.(?:pt|st|ct|sa|scim|audit)\\.', 'dotted', 40],
  ['a Duffel token', 'duffel_(?:test|live)_', 'dotted', 40],
  ['a Dynatrace token', 'dt0[a-z]\\d{2}\\.', 'dotted', 80],
  ['an EasyPost key', 'EZ[AT]K', 'letters', 50],
  ['a Flutterwave key', 'FLW(?:SEC|PUB)K(?:_TEST)?-', 'url', 12],
  ['a Fly.io token', '(?:fo1_|fm1[ar]_|fm2_)', 'base64', 40],
  ['a Frame.io token', 'fio-u-', 'dotted', 60],
  ['a Grafana token', '(?:glc|glsa)_', 'base64', 30],
  ['a Grafana token', 'eyJrIjoi', 'base64', 60],
  ['a Harness key', '(?:pat|sat)\\.[A-Za-z0-9_-]{22}\\.', 'dotted', 40],
  ['a HashiCorp token', '[A-Za-z0-9]{14}\\.atlasv1\\.', 'dotted', 60],
  ['a HashiCorp token', 'hv[sbr]\\.', 'url', 24],
  ['a HashiCorp token', 's\\.(?=[A-Za-z0-9]{24}\\b)', 'letters', 24],
  ['a Heroku key', 'HRKU-', 'url', 36],
  ['an Infracost token', 'ico-', 'letters', 32],
  ['an Intra42 secret', 's-s4t2(?:ud|af)-', 'hex', 60],
  ['a Linear key', 'lin_(?:api|oauth)_', 'letters', 36],
  ['a MaxMind key', '[A-Za-z0-9]{6}_(?=[A-Za-z0-9]{29}_mmk)', 'letters', 29],
  ['a Notion token', '(?:ntn_|secret_)(?=[A-Za-z0-9]{43})', 'letters', 43],
  ['an Octopus Deploy key', 'API-(?=[A-Z0-9]{26}\\b)', 'capitals', 26],
  ['an OpenShift token', 'sha256~', 'url', 40],
  ['a PlanetScale password', 'pscale_(?:tkn|oauth|pw)_', 'dotted', 30],
  ['a Postman key', 'PMAK-', 'url', 50],
  ['a Prefect key', 'pn[ub]_', 'letters', 36],
  ['a Pulumi token', 'pul-', 'hex', 40],
  ['a ReadMe key', 'rdme_', 'letters', 60],
  ['a Scalingo token', 'tk-us-', 'url', 40],
  ['a Sentry token', 'sntr(?:ys|yu)_', 'base64', 40],
  ['a SettleMint token', 'sm_[aps]at_', 'letters', 16],
  ['a Shippo token', 'shippo_(?:live|test)_', 'hex', 36],
  ['a Sourcegraph token', 'sgp_(?:[a-fA-F0-9]{16}_|local_)?', 'hex', 40],
  ['a Supabase key', 'sb(?:p|_secret)_', 'url', 20],
  ['a Telegram token', '\\d{8,10}:AA', 'url', 32],
  ['a Discord token', '[MNO][A-Za-z0-9_-]{23,27}\\.[A-Za-z0-9_-]{6}\\.', 'url', 27],
  ['a 1Password key', 'A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-[A-Z0-9]{5}-[A-Z0-9]{5}-', 'capitals', 5],
  ['a 1Password token', 'ops_eyJ', 'base64', 100],
  ['an age key', 'AGE-(?:SECRET-KEY|PLUGIN)-', 'capitals', 50],
  ['an Adobe secret', 'p8e-', 'letters', 32],
  ['an Airtable token', 'pat[A-Za-z0-9]{14}\\.', 'hex', 60],
  ['an Alibaba key', 'LTAI', 'letters', 16],
  ['an Artifactory key', '(?:AKCp|cmVmd)', 'letters', 50],
  ['an Authress key', '(?:sc|ext|scauth|authress)_[a-z0-9]{5,30}\\.[a-z0-9]{4,6}\\.acc[_-][a-z0-9-]{10,32}\\.', 'base64', 30],
  ['a ClickHouse key', '4b1d', 'letters', 38],
  ['a Cloudflare key', 'v1\\.0-[a-f0-9]{24}-', 'hex', 100],
  ['an Atlassian token', 'AT(?:ATT3xF|CTT3xF|BB)', 'dotted', 24],
  ['an Expo token', 'ExponentPushToken\\[', 'url', 20],
  ['a New Relic key', 'NR(?:AK|JS|II|RA)-', 'letters', 19],
  ['a Defined Networking key', 'dnkey-', 'dotted', 50],
  ['a Beamer token', 'b_', 'dotted', 44],
  ['an Azure secret', '[A-Za-z0-9_~.]{3}\\dQ~', 'dotted', 28],
];

const SHORTEST_LINE = 16;

/** A key follows a quote, a space or a sign. */
const BOUNDARY = '(?<![A-Za-z0-9_~])';

const ALL = ISSUED_KEYS.map(([kind, beginning, characters, length]) =>
  ({ kind, pattern: new RegExp(`${BOUNDARY}${beginning}([~${CHARACTERS[characters]}]{${length},})`) }));
/** Without a digit only keys of letters alone remain. Most lines end here, or at the next pattern. */
const WORTH_A_LOOK = /\d|(?:hf|org|npm|gh[pousr])_/;
const ANY = new RegExp(`${BOUNDARY}(?:${ISSUED_KEYS.map(([, beginning]) => `(?:${beginning})`).join('|')})`);

/** The issuer of a key in the line, in words. */
export function issuedKeyIn(line: string): string | undefined {
  if (line.length < SHORTEST_LINE || !WORTH_A_LOOK.test(line) || !ANY.test(line)) return undefined;
  return ALL.find(({ pattern }) => isKey(pattern.exec(line)?.[1]))?.kind;
}

/** Words are in lower case without digits, and placeholders repeat a few characters. */
function isKey(rest: string | undefined): boolean {
  return rest !== undefined && (/\d/.test(rest) || (/[a-z]/.test(rest) && /[A-Z]/.test(rest))) && new Set(rest.toLowerCase()).size >= 5;
}
