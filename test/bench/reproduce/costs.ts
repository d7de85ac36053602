import { CATALOGUE, cataloguePrice } from '../../../backend/workers/limits/catalogue-price.ts';

/*
 * What the tables of arXiv 2512.04388 would cost with its workers at the prices of the catalogue: `node with-node.mjs node test/bench/reproduce/costs.ts`.
 * The paper counts tokens of a question without saying which are input and which worker wrote them, so each cost is a range.
 */

const OPENROUTER = 'https://openrouter.ai/api/v1';
const WORKERS = [
  ['Gemini 2.5 Pro', 'https://generativelanguage.googleapis.com', 'gemini-2.5-pro'],
  ['Claude Sonnet 4', 'https://api.anthropic.com', 'claude-sonnet-4-0'],
  ['GPT-5', 'https://api.openai.com/v1', 'gpt-5'],
  ['R1-Distill-Qwen-32B', OPENROUTER, 'deepseek/deepseek-r1-distill-qwen-32b'],
  ['Gemma 3 27B', OPENROUTER, 'google/gemma-3-27b-it'],
  ['Qwen3 32B', OPENROUTER, 'qwen/qwen3-32b'],
] as const;
const CLOSED = 3;

/** Tokens and dollars of a question, as the paper has them: the means of Table 6, and MMLU of Table 5. */
const ROWS = [
  ['Table 6, Conductor', 1_820, 0.02384],
  ['Table 6, mixture of agents', 11_203, 0.04855],
  ['Table 6, RouterDC', 840, 0.00561],
  ['Table 5, Conductor', 735, 0.009],
  ['Table 5, GPT-5 five times', 1_376, 0.0138],
] as const;
/** 200 steps of 4 questions with 64 plans. */
const PLANS = 200 * 4 * 64;
/** The most output tokens of a call without constraints, Table 3, in the order of the closed workers. */
const MOST_TOKENS = [65_535, 64_000, 128_000] as const;

const now = Date.now();
const priced = WORKERS.map(([name, baseUrl, model]) => {
  const price = cataloguePrice(baseUrl, model, now);
  if (!price) throw new Error(`The catalogue has no price for ${model}.`);
  return { name, input: price.inputPerMillion, output: price.outputPerMillion };
});
const closed = priced.slice(0, CLOSED);
const least = Math.min(...closed.map(({ output }) => output));
const most = Math.max(...closed.map(({ output }) => output));
const usd = (dollars: number): string => `$${dollars.toFixed(2)}`;

console.log(`Prices of ${CATALOGUE.name} ${CATALOGUE.version}, published ${CATALOGUE.asOf}.\n`);
console.log('| worker | $ per million tokens in | out |\n| --- | ---: | ---: |');
for (const { name, input, output } of priced) console.log(`| ${name} | ${input} | ${output} |`);
console.log('\n| | tokens | if all are output of a closed worker | in the paper |\n| --- | ---: | ---: | ---: |');
const told = [...ROWS.map(([name, tokens, dollars]) => [`${name}, 1,000 questions`, 1_000 * tokens, 1_000 * dollars] as const),
  [`Training, ${PLANS.toLocaleString('en')} plans as in Table 6`, PLANS * ROWS[0][1], undefined] as const];
for (const [name, tokens, dollars] of told) {
  console.log(`| ${name} | ${tokens.toLocaleString('en')} | ${usd(tokens * least / 1e6)} to ${usd(tokens * most / 1e6)} | ${dollars === undefined ? '' : usd(dollars)} |`);
}
console.log('\n| one call without constraints (Table 3) | most output tokens | at most |\n| --- | ---: | ---: |');
for (const [index, tokens] of MOST_TOKENS.entries()) {
  const { name = '', output = 0 } = closed[index] ?? {};
  console.log(`| ${name} | ${tokens.toLocaleString('en')} | ${usd(tokens * output / 1e6)} |`);
}
