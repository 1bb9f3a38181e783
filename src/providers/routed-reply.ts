/** What the requests to providers outside of turns add for a model of a route: the header that names it, and the end of its reply. */
import { targetHeader } from '../core/model/route.ts';
import type { Principal } from '../core/people/principal.ts';
import type { RouteAttempt, Routing } from '../engine/try-routes.ts';
import type { LimitedRequest } from '../engine/proxy/reserve-request.ts';
import type { Clock, Ids, Logger } from '../ports/runtime.ts';

export function toRouting({ clock, ids, log }: { clock: Clock; ids: Ids; log?: Logger }, { workspace, keyId }: Principal): Routing {
  return { clock, ids, log, workspace, keyId, session: null };
}

/** Names the model of a route that replies, and why it was asked. */
export async function withTarget(route: RouteAttempt | undefined, reply: Promise<Response>): Promise<Response> {
  const response = await reply;
  if (route !== undefined) response.headers.set(targetHeader, route.target);
  return response;
}

/** Tells a route when the reply has ended, which its meter notices. */
export function endingRoute(usage: LimitedRequest['usage'], route: RouteAttempt | undefined): LimitedRequest['usage'] {
  if (route === undefined) return usage;
  return {
    gather(workspace, report) {
      route.over(report.request?.status === 'failed');
      usage?.gather(workspace, report);
    },
  };
}
