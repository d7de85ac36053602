/** Appends `/v1`, where many servers have OpenAI's API. Undefined if the path already has a version. */
export function withVersion(baseUrl: string): string | undefined {
  const { pathname } = new URL(baseUrl);
  return pathname.split('/').some((segment) => /^v\d/.test(segment)) ? undefined : `${baseUrl.replace(/\/+$/, '')}/v1`;
}
