/** A span for each HTTP request, which continues the caller's trace (`traceparent`). Has the route, never the URL, which can contain tokens. */
import { matchedRoutes } from 'hono/route';
import { targetHeader } from '../../core/model/route.ts';
import { readTraceContext } from '../../core/telemetry/trace-context.ts';
import type { Telemetry } from '../../ports/telemetry.ts';
import type { Context } from 'hono';

/** Probes and scrapes would hide the rest. */
const unobserved: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics']);

const methods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

export async function observeRequest(telemetry: Telemetry, c: Context, requestId: string, next: () => Promise<void>): Promise<void> {
  const { method, path } = c.req;
  if (unobserved.has(path)) return await next();
  const known = methods.has(method) ? method : '_OTHER';
  const parent = readTraceContext(c.req.header('traceparent'), c.req.header('tracestate'));
  const attributes = { 'http.request.method': known, 'moniker.request.id': requestId };
  await telemetry.during({ name: known, kind: 'server', attributes, parent }, async (span) => {
    await next();
    const route = routeOf(c);
    span.set('http.route', route);
    span.rename(`${known} ${route}`);
    const { status } = c.res;
    span.set('http.response.status_code', status);
    span.set('moniker.target', c.res.headers.get(targetHeader) ?? undefined);
    if (status >= 500) span.fail(String(status));
  });
}

/** Returns the path as documented, such as `/v1/toolsets/{toolset}`. */
function routeOf(c: Context): string {
  const path = matchedRoutes(c).findLast((route) => !route.path.endsWith('*'))?.path ?? 'unmatched';
  return path.replaceAll(/:(\w+)(?:\{[^}]*\})?/g, '{$1}');
}
