/** `https://host/v1` for an address without a version in its path, where many servers have OpenAI's API; undefined where it has one. */
export function withVersion(baseUrl: string): string | undefined {
  const { pathname } = new URL(baseUrl);
  return pathname.split('/').some((segment) => /^v\d/.test(segment)) ? undefined : `${baseUrl.replace(/\/+$/, '')}/v1`;
}
