/**
 * Assembles the HTTP surface (contract §9): the middleware of every request is listed here in its order; each route has its rules next to its
 * handler in `routes/`, and is listed in `route-modules.ts`. The worker's entry calls `createApp` once per isolate.
 */
import { Hono } from 'hono';
import { Problem, quoted } from '../core/problem.ts';
import { createLog } from '../platform/log.ts';
import { type AppContext, type AppEnv, requestContext } from './middleware/request-context.ts';
import { discardRequestBody } from './request-body.ts';
import type { ApiDialectName } from '../core/text/reference.ts';
import { dialectOfUnknown, loggedPath, renderProblem, toProblem } from './problems.ts';
import { cors } from './middleware/cors.ts';
import { requireOwnHost } from './own-origin.ts';
import { signInChallenge } from './oauth-metadata.ts';
import { loadRoutes, routeRoot, routeModules } from './route-modules.ts';
import type { HttpServices } from './services.ts';
import { createMiddleware } from 'hono/factory';

/**
 * `services` is called for every request; it manages what lives longer than a request. Each root of paths (`route-modules.ts`) has a router of
 * its own, with the same middleware, which is made at the first request that needs it.
 */
export function createApp<Bindings, RuntimeContext>(services: (env: Bindings, context: RuntimeContext) => HttpServices): Hono<AppEnv> {
  const app = createRouter(services);
  const withoutRoutes = { fetch: app.fetch };
  const routers = new Map<string, Hono<AppEnv>>();
  // Not shared by requests that arrive meanwhile: the platform drops what a request waits for when its client disconnects.
  const loadRouter = async (root: string): Promise<Pick<Hono<AppEnv>, 'fetch'>> => {
    const modules = routeModules.filter(({ roots }) => roots.includes(root));
    if (modules.length === 0) return withoutRoutes;
    const [{ mountRoutes }, routes] = await Promise.all([import('./mount-routes.ts'), loadRoutes(modules)]);
    const router = createRouter(services);
    mountRoutes(
      router,
      routes.filter(({ spec: { path, alsoAt = path } }) => routeRoot(path) === root || routeRoot(alsoAt) === root),
    );
    if (!routers.has(root)) routers.set(root, router);
    return router;
  };
  const atRoot = (root: string, request: Parameters<typeof app.fetch>): Response | Promise<Response> => {
    const router = routers.get(root);
    return router === undefined ? loadRouter(root).then((loaded) => loaded.fetch(...request)) : router.fetch(...request);
  };
  const atOwnPath = async ([request, ...context]: Parameters<typeof app.fetch>): Promise<Response> => {
    const { fromAzurePath } = await import('./azure-paths.ts');
    const own = fromAzurePath(request) ?? request;
    return await atRoot(routeRoot(app.getPath(own)), [own, ...context]);
  };
  return Object.assign(app, {
    fetch: (...request: Parameters<typeof app.fetch>): Response | Promise<Response> => {
      const root = routeRoot(app.getPath(request[0]));
      if (root === '/openai') return atOwnPath(request);
      return atRoot(root, request);
    },
  });
}

function createRouter<Bindings, RuntimeContext>(services: (env: Bindings, context: RuntimeContext) => HttpServices): Hono<AppEnv> {
  const router = new Hono<AppEnv>();
  router.use(requestContext(services, (...request) => router.fetch(...request)));
  router.use(requireOwnHost);
  router.use(cors);
  router.use(refuseLoops);
  router.notFound((c) => {
    if (c.req.method === 'GET' && /^\/(?:console|docs)\/$/.test(c.req.path)) return c.redirect(c.req.path.slice(0, -1), 308);
    const detail =
      c.req.path === '/v1/completions'
        ? 'The legacy completions of OpenAI are not supported. Use POST /v1/chat/completions with `messages` in place of `prompt`.'
        : `Unknown path ${quoted(loggedPath(c.req.path))}. /docs lists every path.`;
    const problem = new Problem('not_found', detail);
    return failed(c, problem, dialectOfUnknown(c.req.path, c.req.raw.headers));
  });
  router.onError((error, c) => failed(c, error));
  return router;
}

async function failed(c: AppContext, error: unknown, dialect: ApiDialectName | null = null): Promise<Response> {
  await discardRequestBody(c);
  // Services do not exist if a setting is invalid, and that error must then be reported.
  const services: HttpServices | undefined = c.get('services');
  const requestId: string | undefined = c.get('requestId');
  const challenge = services === undefined ? '' : signInChallenge(services.settings, c.req.url);
  const request = { method: c.req.method, path: c.req.path, requestId: requestId ?? 'none', dialect, challenge };
  const problem = toProblem(error, request, services?.log ?? createLog('error'));
  // The runtime hides that the disk was the cause.
  const cause = problem.code === 'internal' ? await services?.host.explain() : null;
  return await renderProblem(cause ?? problem, request);
}

/** Rejects a request that this installation sent itself, before it can cause the next one. */
const refuseLoops = createMiddleware<AppEnv>(async (c, next) => {
  await c.get('services').refuseLoop(c.req.raw.headers);
  await next();
});
