/** A request's path as it may stand in a log line or an error: without what is itself a right. */

/** The slash also as mail programs write it. */
const approvePrefix = /\/approve(\/|%(25)*2f)/i;

/** `/approve/…` for any link to an approval, also one that is misspelt behind its token; other paths as they are. */
export function loggedPath(path: string): string {
  const start = path.search(approvePrefix);
  return start === -1 ? path : `${path.slice(0, start)}/approve/…`;
}
