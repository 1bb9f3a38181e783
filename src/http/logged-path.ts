/** Returns a request's path for log lines and errors, without tokens that grant access. */

/** Also matches a slash that a mail program has URL-encoded. */
const approvePrefix = /\/approve(\/|%(25)*2f)/i;

/** Returns `/approve/…` for any approval link, also if it is malformed after its token; other paths unchanged. */
export function loggedPath(path: string): string {
  const start = path.search(approvePrefix);
  return start === -1 ? path : `${path.slice(0, start)}/approve/…`;
}
