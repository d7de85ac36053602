/*
 * Names of files that hold secrets: those of keys, of credentials of common tools, and of shells' histories. A file with such a name is
 * never read.
 */

/** Compared with the lower-case name of the file. */
const SECRET_FILES: readonly RegExp[] = [
  /^\.env$/, /^\.env\.(?!(?:.*\.)?(?:example|sample|template|dist|defaults)$)/, /^\.envrc$/, /\.env$/,
  /\.(?:pem|key|p12|pfx|p8|jks|keystore|bks|ppk|kdbx?|gpg|pgp|agekey|keytab|ovpn|mobileprovision|dockerconfigjson)$/,
  /^id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?$/, /^ssh_host_.*_key$/,
  /^\.?(?:npmrc|netrc|pypirc|pgpass|my\.cnf|mylogin\.cnf|htpasswd|htdigest|git-credentials|dockercfg|vault-token|boto|s3cfg)$/, /^_netrc$/,
  /^\.?(?:terraformrc|terraform\.rc|credentials\.tfrc\.json|rclone\.conf|pgadmin4?\.db|esmtprc|msmtprc|fetchmailrc)$/,
  /^credentials(?:\.(?:json|ya?ml|toml|ini|csv|xml|xml\.enc|db))?$/, /^(?:client_secret|service[-_]?account).*\.json$/,
  /^secrets?(?:\.[\w-]+)?\.(?:json|ya?ml|toml|ini|env|properties|xml)$/,
  /^kubeconfig$/, /\.tfstate(?:\.backup)?$/, /\.tfvars(?:\.json)?$/,
  /^\.(?:bash|zsh|sh|fish|mysql|psql|sqlite|node_repl|python|irb|rediscli)_?history$/,
  /^(?:wp-config\.php|localsettings\.php|filezilla\.xml|sitemanager\.xml|recentservers\.xml)$/,
];

/** Folders in which every file is a secret. */
const SECRET_FOLDERS: ReadonlySet<string> = new Set(['.ssh', '.aws', '.gnupg', '.azure', '.kube', '.password-store']);

/** Files that are secret in a folder of this name only: their names are too common elsewhere. */
const SECRET_PLACES: ReadonlySet<string> = new Set([
  '.docker/config.json', '.m2/settings.xml', '.m2/settings-security.xml', '.cargo/credentials.toml', '.gem/credentials',
  'gh/hosts.yml', 'gcloud/application_default_credentials.json', 'config/master.key', '.composer/auth.json',
]);

/** Whether a path, relative with forward slashes, names a file that is never sent. */
export function isSecretFile(path: string): boolean {
  const segments = path.toLowerCase().split('/');
  const name = segments.pop() ?? '';
  return SECRET_PLACES.has(`${segments.at(-1)}/${name}`)
    || segments.some((segment) => SECRET_FOLDERS.has(segment))
    || SECRET_FILES.some((pattern) => pattern.test(name));
}
