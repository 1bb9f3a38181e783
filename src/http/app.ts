/**
 * Assembles the HTTP surface (contract §9): the middleware of every request is listed here in its order; each route has its rules next to its
 * handler in `routes/`. The worker's entry calls `createApp` once per isolate.
 */
import { Hono } from 'hono';
import { Problem, quoted } from '../core/problem.ts';
import { createLog } from '../platform/log.ts';
import type { Services } from '../wiring.ts';
import { type AppContext, type AppEnv, requestContext } from './middleware/request-context.ts';
import { discardBody } from './json-body.ts';
import { loggedPath, renderProblem, toProblem } from './problems.ts';
import { cors } from './middleware/cors.ts';
import { requireOwnHost } from './own-origin.ts';
import { mountMethodFallbacks, type App } from './route.ts';
import { mountAgents } from './routes/agents.ts';
import { mountApprovals } from './routes/approvals.ts';
import { mountApprovePage } from './routes/approve-page.ts';
import { mountAudit } from './routes/audit.ts';
import { mountCallbacks } from './routes/callbacks.ts';
import { mountChatCompletions } from './routes/chat-completions.ts';
import { mountDeliveries } from './routes/deliveries.ts';
import { mountHealth, mountPages, mountOpenApi } from './routes/service-pages.ts';
import { mountHooks } from './routes/hooks.ts';
import { mountKeys } from './routes/keys.ts';
import { mountMcp } from './routes/mcp.ts';
import { mountMessages } from './routes/messages.ts';
import { mountModels } from './routes/models.ts';
import { mountPolicy } from './routes/policy.ts';
import { mountProviders } from './routes/providers.ts';
import { mountResponses } from './routes/responses.ts';
import { mountSchedules } from './routes/schedules.ts';
import { mountScheduleRuns } from './routes/schedule-runs.ts';
import { mountSecrets } from './routes/secrets.ts';
import { mountServerAuthorize } from './routes/server-authorize.ts';
import { mountServerHealth } from './routes/server-health.ts';
import { mountServerTools } from './routes/server-tools.ts';
import { mountServers } from './routes/servers.ts';
import { mountSessionFiles } from './routes/session-files.ts';
import { mountSessions } from './routes/sessions.ts';
import { mountSkills } from './routes/skills.ts';
import { mountSubscriptions } from './routes/subscriptions.ts';
import { mountToolResults } from './routes/tool-results.ts';
import { mountTools } from './routes/tools.ts';
import { mountToolsetResolve } from './routes/toolset-resolve.ts';
import { mountToolsetTools } from './routes/toolset-tools.ts';
import { mountToolsetUse } from './routes/toolset-use.ts';
import { mountToolsetVersions } from './routes/toolset-versions.ts';
import { mountToolsets } from './routes/toolsets.ts';
import { mountTurns } from './routes/turns.ts';
import { mountWebhooks } from './routes/webhooks.ts';
import { mountWrittenTools } from './routes/written-tools.ts';
import { createMiddleware } from 'hono/factory';

/** `services` is called for every request; it manages what lives longer than a request. */
export function createApp<Bindings, RuntimeContext>(services: (env: Bindings, context: RuntimeContext) => Services): Hono<AppEnv> {
  const router = new Hono<AppEnv>();
  const app: App = { router, operations: [] };
  router.use(requestContext(services));
  router.use(requireOwnHost);
  router.use(cors);
  router.use(refuseLoops);

  mountHealth(app);
  mountToolsets(app);
  mountToolsetVersions(app);
  mountToolsetTools(app);
  mountToolsetResolve(app);
  mountToolsetUse(app);
  mountTools(app);
  mountWrittenTools(app);
  mountServers(app);
  mountServerAuthorize(app);
  mountServerTools(app);
  mountServerHealth(app);
  mountProviders(app);
  mountSecrets(app);
  mountPolicy(app);
  mountModels(app);
  mountAgents(app);
  mountSkills(app);
  mountKeys(app);
  mountWebhooks(app);
  mountDeliveries(app);
  mountHooks(app);
  mountSchedules(app);
  mountScheduleRuns(app);
  mountSubscriptions(app);
  mountCallbacks(app);
  mountSessions(app);
  mountSessionFiles(app);
  mountTurns(app);
  mountToolResults(app);
  mountApprovals(app);
  mountApprovePage(app);
  mountChatCompletions(app);
  mountResponses(app);
  mountMessages(app);
  mountMcp(app);
  mountAudit(app);
  mountPages(app);
  mountOpenApi(app);
  mountMethodFallbacks(app);

  router.notFound((c) => failed(c, new Problem('not_found', `Unknown path ${quoted(loggedPath(c.req.path))}. /docs lists every path.`)));
  router.onError((error, c) => failed(c, error));
  return router;
}

async function failed(c: AppContext, error: unknown): Promise<Response> {
  await discardBody(c.req.raw);
  // Services do not exist if a setting is invalid, and that error must then be reported.
  const services: Services | undefined = c.get('services');
  const requestId: string | undefined = c.get('requestId');
  const request = { method: c.req.method, path: c.req.path, requestId: requestId ?? 'none' };
  return renderProblem(toProblem(error, request, services?.log ?? createLog('error')), request);
}

/** Rejects a request that this installation sent itself, before it can cause the next one. */
const refuseLoops = createMiddleware<AppEnv>(async (c, next) => {
  await c.get('services').refuseLoop(c.req.raw.headers);
  await next();
});
