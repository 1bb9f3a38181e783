/** The dependencies of obtaining tokens for one server. Built in `wiring.ts`. */
import type { ServerOAuth } from '../../core/servers/server.ts';
import type { Catalog } from '../../ports/catalog.ts';
import type { Clock, Logger } from '../../ports/runtime.ts';

export type OAuthContext = {
  server: { name: string; url: string; oauth: ServerOAuth };
  grants: Pick<Catalog, 'serverGrant' | 'saveServerGrant'>;
  /** The outbound client for servers. It does not follow redirects to another origin, and has a timeout. */
  send(request: Request, signal: AbortSignal): Promise<Response>;
  /** Returns the value of a secret that may be sent to `host`; throws a `Problem` that names what is missing. */
  secret(name: string, host: string): Promise<string>;
  clock: Clock;
  log: Logger;
};
