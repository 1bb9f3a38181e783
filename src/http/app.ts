/**
 * Assembles the HTTP surface (contract §9): the middleware of every request is listed here in its order; each route has its rules next to its
 * handler in `routes/`. The worker's entry calls `createApp` once per isolate.
 */
import { OpenAPIHono } from '@hono/zod-openapi';
import type { Hono } from 'hono';
import { Problem, quoted } from '../core/problem.ts';
import { createLog } from '../platform/log.ts';
import type { Services } from '../wiring.ts';
import { type AppContext, type AppEnv, requestContext } from './middleware/request-context.ts';
import { discardBody } from './json-body.ts';
import { buildDocument } from './openapi-document.ts';
import type { DialectName } from '../core/reference.ts';
import { dialectOfUnknown, loggedPath, renderProblem, toProblem } from './problems.ts';
import { cors } from './middleware/cors.ts';
import { requireOwnHost } from './own-origin.ts';
import { signInChallenge } from './oauth-metadata.ts';
import { mountRoutes } from './mount-routes.ts';
import { agentRoutes } from './routes/agents.ts';
import { approvalRoutes } from './routes/approvals.ts';
import { approvePageRoutes } from './routes/approve-page.ts';
import { auditRoutes } from './routes/audit.ts';
import { backupRoutes } from './routes/backup.ts';
import { callbackRoutes } from './routes/callbacks.ts';
import { chatCompletionRoutes } from './routes/chat-completions.ts';
import { connectRoutes } from './routes/connect.ts';
import { connectionRoutes } from './routes/connections.ts';
import { deliveryRoutes } from './routes/deliveries.ts';
import { exportRoutes } from './routes/export.ts';
import { hookRoutes } from './routes/hooks.ts';
import { importRoutes } from './routes/import.ts';
import { grantRoutes } from './routes/grants.ts';
import { keyRoutes } from './routes/keys.ts';
import { oauthAuthorizeRoutes } from './routes/oauth-authorize.ts';
import { oauthRoutes } from './routes/oauth.ts';
import { memberRoutes } from './routes/members.ts';
import { limitRoutes } from './routes/limits.ts';
import { masterKeyRoutes } from './routes/master-key.ts';
import { meRoutes } from './routes/me.ts';
import { mcpRoutes } from './routes/mcp.ts';
import { messagesRoutes } from './routes/messages.ts';
import { passedRequestRoutes } from './routes/passed-requests.ts';
import { metricsRoutes } from './routes/metrics.ts';
import { modelAliasRoutes } from './routes/model-aliases.ts';
import { modelRoutes } from './routes/models.ts';
import { policyRoutes } from './routes/policy.ts';
import { projectRoutes } from './routes/projects.ts';
import { providerRoutes } from './routes/providers.ts';
import { responsesRoutes } from './routes/responses.ts';
import { scheduleRunRoutes } from './routes/schedule-runs.ts';
import { scheduleRoutes } from './routes/schedules.ts';
import { secretRoutes } from './routes/secrets.ts';
import { serverAuthorizeRoutes } from './routes/server-authorize.ts';
import { serverHealthRoutes } from './routes/server-health.ts';
import { serverToolRoutes } from './routes/server-tools.ts';
import { serverRoutes } from './routes/servers.ts';
import { pageRoutes, healthRoutes, openApiRoutes } from './routes/service-pages.ts';
import { sessionFileRoutes } from './routes/session-files.ts';
import { sessionRoutes } from './routes/sessions.ts';
import { identityRoutes } from './routes/identity.ts';
import { signInRoutes } from './routes/sign-in.ts';
import { skillRoutes } from './routes/skills.ts';
import { subscriptionRoutes } from './routes/subscriptions.ts';
import { toolResultRoutes } from './routes/tool-results.ts';
import { toolAliasRoutes } from './routes/tool-aliases.ts';
import { toolRoutes } from './routes/tools.ts';
import { toolsetResolveRoutes } from './routes/toolset-resolve.ts';
import { toolsetToolRoutes } from './routes/toolset-tools.ts';
import { toolsetUseRoutes } from './routes/toolset-use.ts';
import { toolsetPreviewRoutes } from './routes/toolset-preview.ts';
import { toolsetUsesRoutes } from './routes/toolset-uses.ts';
import { toolsetVersionRoutes } from './routes/toolset-versions.ts';
import { toolsetRoutes } from './routes/toolsets.ts';
import { usageRoutes } from './routes/usage.ts';
import { turnRoutes } from './routes/turns.ts';
import { webhookRoutes } from './routes/webhooks.ts';
import { workspaceRoutes } from './routes/workspaces.ts';
import { writtenToolRoutes } from './routes/written-tools.ts';
import { createMiddleware } from 'hono/factory';

/** `services` is called for every request; it manages what lives longer than a request. */
export function createApp<Bindings, RuntimeContext>(services: (env: Bindings, context: RuntimeContext) => Services): Hono<AppEnv> {
  const router = new OpenAPIHono<AppEnv>();
  router.use(requestContext(services));
  router.use(requireOwnHost);
  router.use(cors);
  router.use(refuseLoops);

  mountRoutes(router, [
    ...healthRoutes,
    ...metricsRoutes,
    ...toolsetRoutes,
    ...toolsetVersionRoutes,
    ...toolsetUsesRoutes,
    ...toolsetPreviewRoutes,
    ...toolsetToolRoutes,
    ...toolsetResolveRoutes,
    ...toolsetUseRoutes,
    ...toolRoutes,
    ...toolAliasRoutes,
    ...writtenToolRoutes,
    ...serverRoutes,
    ...serverAuthorizeRoutes,
    ...connectionRoutes,
    ...connectRoutes,
    ...serverToolRoutes,
    ...serverHealthRoutes,
    ...providerRoutes,
    ...secretRoutes,
    ...policyRoutes,
    ...modelRoutes,
    ...modelAliasRoutes,
    ...passedRequestRoutes,
    ...agentRoutes,
    ...skillRoutes,
    ...keyRoutes,
    ...grantRoutes,
    ...oauthRoutes,
    ...oauthAuthorizeRoutes,
    ...memberRoutes,
    ...masterKeyRoutes,
    ...meRoutes,
    ...limitRoutes,
    ...workspaceRoutes,
    ...projectRoutes,
    ...importRoutes,
    ...exportRoutes,
    ...webhookRoutes,
    ...deliveryRoutes,
    ...hookRoutes,
    ...scheduleRoutes,
    ...scheduleRunRoutes,
    ...subscriptionRoutes,
    ...callbackRoutes,
    ...sessionRoutes,
    ...sessionFileRoutes,
    ...turnRoutes,
    ...toolResultRoutes,
    ...approvalRoutes,
    ...approvePageRoutes,
    ...signInRoutes,
    ...identityRoutes,
    ...chatCompletionRoutes,
    ...responsesRoutes,
    ...messagesRoutes,
    ...mcpRoutes,
    ...auditRoutes,
    ...usageRoutes,
    ...backupRoutes,
    ...pageRoutes,
    ...openApiRoutes(() => buildDocument(router.openAPIRegistry)),
  ]);

  router.notFound((c) => {
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

async function failed(c: AppContext, error: unknown, dialect: DialectName | null = null): Promise<Response> {
  await discardBody(c.req.raw);
  // Services do not exist if a setting is invalid, and that error must then be reported.
  const services: Services | undefined = c.get('services');
  const requestId: string | undefined = c.get('requestId');
  const challenge = services === undefined ? '' : signInChallenge(services.settings, c.req.url);
  const request = { method: c.req.method, path: c.req.path, requestId: requestId ?? 'none', dialect, challenge };
  return renderProblem(toProblem(error, request, services?.log ?? createLog('error')), request);
}

/** Rejects a request that this installation sent itself, before it can cause the next one. */
const refuseLoops = createMiddleware<AppEnv>(async (c, next) => {
  await c.get('services').refuseLoop(c.req.raw.headers);
  await next();
});
