/** What getting tokens for one server needs from outside. Built in `wiring.ts`; nothing here knows of workspaces. */
import type { ServerOAuth } from '../../core/servers/server.ts';
import type { Catalog } from '../../ports/catalog.ts';
import type { Clock, Logger } from '../../ports/runtime.ts';

export type OAuthContext = {
  server: { name: string; url: string; oauth: ServerOAuth };
  grants: Pick<Catalog, 'serverGrant' | 'saveServerGrant'>;
  /** The guarded way out for servers: it follows no redirect to another origin, and has a time-out. */
  send(request: Request, signal: AbortSignal): Promise<Response>;
  /** The value of a secret that may be sent to `host`; throws a `Problem` that names what is missing. */
  secret(name: string, host: string): Promise<string>;
  clock: Clock;
  log: Logger;
};
