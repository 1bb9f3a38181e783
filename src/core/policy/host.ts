/** Hosts as rules, questions and remembered answers have them. Used by the policy and by whoever sends a request. */

/** The host that a URL reaches, as the WHATWG parser has it; null for what is no URL of a host. */
export function requestHost(url: string): string | null {
  const parsed = URL.parse(url);
  if (parsed === null || parsed.hostname === '') return null;
  const name = parsed.hostname.replace(/\.$/, '');
  return parsed.port === '' ? name : `${name}:${parsed.port}`;
}
