/** Where a user connects an account at a server with `oauth.per: "user"`, and what a call says that needs one. Pure. */
import { Problem } from '../problem.ts';

/** Where the caller connects; `url` null: it cannot. `isTrigger`: a webhook or schedule calls, and no user. */
export type UserConnection = { url: string | null; isTrigger: boolean };

/** Returns the page of `http/routes/servers/connect.ts`. It connects the user who opens it, so the URL contains no secret. */
export function connectPageUrl(base: string, workspace: string, server: string): string {
  return `${base}/connect/${server}${workspace === 'default' ? '' : `?workspace=${workspace}`}`;
}

/** Returns what the user, or the administrator, has to do. */
export function connectText(server: string, { url, isTrigger }: UserConnection): string {
  if (isTrigger) {
    return `The server ${server} uses the account of the calling user, and webhooks and schedules have none. Use a server with one sign-in for the workspace.`;
  }
  const where = url === null ? `POST /v1/me/connections/${server} starts it.` : `Open ${url} in a browser.`;
  return `The server ${server} requires an account of yours that is not connected yet, or no longer. ${where} Then make the call again.`;
}

/** `unauthorized`: as for a server that rejects its credentials (`ports/upstream.ts`). */
export function connectionRequired(server: string, connection: UserConnection): Problem {
  return new Problem('upstream_error', connectText(server, connection), { server, unauthorized: true, retryable: false });
}
