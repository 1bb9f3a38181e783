/**
 * Which routes serve a path. The modules of routes, with their schemas, are loaded at the first request to one of their paths: evaluating all
 * of them would take a third of the start of an isolate.
 */
import type { Route } from './route.ts';

export type RouteModule = {
  /** The roots (`routeRoot`) of the paths of its routes. */
  roots: readonly string[];
  load: () => Promise<readonly Route[]>;
};

/** Returns what decides which routes are loaded for a path: its first segment, or `/v1` and its second one. */
export function routeRoot(path: string): string {
  return /^(?:\/v1)?\/[^/]*/.exec(path)?.[0] ?? '';
}

/** In the order of the OpenAPI document. */
export const routeModules: readonly RouteModule[] = [
  { roots: ['/healthz', '/readyz'], load: async () => (await import('./routes/service/service-pages.ts')).healthRoutes },
  { roots: ['/metrics'], load: async () => (await import('./routes/service/metrics.ts')).metricsRoutes },
  { roots: ['/v1/publications'], load: async () => (await import('./routes/service/publications.ts')).publicationRoutes },
  { roots: ['/v1/toolsets'], load: async () => (await import('./routes/toolsets/toolsets.ts')).toolsetRoutes },
  { roots: ['/v1/toolsets'], load: async () => (await import('./routes/toolsets/toolset-versions.ts')).toolsetVersionRoutes },
  { roots: ['/v1/toolsets'], load: async () => (await import('./routes/toolsets/toolset-uses.ts')).toolsetUsesRoutes },
  { roots: ['/v1/toolsets'], load: async () => (await import('./routes/toolsets/toolset-preview.ts')).toolsetPreviewRoutes },
  { roots: ['/v1/toolsets'], load: async () => (await import('./routes/toolsets/toolset-impact.ts')).toolsetImpactRoutes },
  { roots: ['/v1/toolsets'], load: async () => (await import('./routes/toolsets/toolset-suggestions.ts')).toolsetSuggestionRoutes },
  { roots: ['/v1/toolsets'], load: async () => (await import('./routes/toolsets/toolset-tools.ts')).toolsetToolRoutes },
  { roots: ['/v1/toolsets'], load: async () => (await import('./routes/toolsets/toolset-resolve.ts')).toolsetResolveRoutes },
  { roots: ['/v1/toolsets'], load: async () => (await import('./routes/toolsets/toolset-use.ts')).toolsetUseRoutes },
  { roots: ['/v1/tools'], load: async () => (await import('./routes/tools/tools.ts')).toolRoutes },
  { roots: ['/v1/tools'], load: async () => (await import('./routes/tools/tool-aliases.ts')).toolAliasRoutes },
  { roots: ['/v1/tools'], load: async () => (await import('./routes/tools/written-tools.ts')).writtenToolRoutes },
  { roots: ['/v1/tools'], load: async () => (await import('./routes/tools/tool-impact.ts')).toolImpactRoutes },
  { roots: ['/v1/servers'], load: async () => (await import('./routes/servers/servers.ts')).serverRoutes },
  { roots: ['/v1/servers', '/oauth'], load: async () => (await import('./routes/servers/server-authorize.ts')).serverAuthorizeRoutes },
  { roots: ['/v1/me', '/v1/servers'], load: async () => (await import('./routes/servers/connections.ts')).connectionRoutes },
  { roots: ['/connect'], load: async () => (await import('./routes/servers/connect.ts')).connectRoutes },
  { roots: ['/v1/servers'], load: async () => (await import('./routes/servers/server-tools.ts')).serverToolRoutes },
  { roots: ['/v1/servers'], load: async () => (await import('./routes/servers/server-offers.ts')).serverOfferRoutes },
  { roots: ['/v1/servers'], load: async () => (await import('./routes/servers/server-health.ts')).serverHealthRoutes },
  { roots: ['/v1/programs'], load: async () => (await import('./routes/servers/programs.ts')).programRoutes },
  { roots: ['/v1/providers'], load: async () => (await import('./routes/models/providers.ts')).providerRoutes },
  { roots: ['/v1/secrets'], load: async () => (await import('./routes/servers/secrets.ts')).secretRoutes },
  { roots: ['/v1/policy'], load: async () => (await import('./routes/tools/policy.ts')).policyRoutes },
  { roots: ['/v1/models'], load: async () => (await import('./routes/models/models.ts')).modelRoutes },
  { roots: ['/v1/model-aliases'], load: async () => (await import('./routes/models/model-aliases.ts')).modelAliasRoutes },
  { roots: ['/v1/cache'], load: async () => (await import('./routes/models/cache.ts')).cacheRoutes },
  {
    roots: ['/v1/embeddings', '/v1/rerank', '/v1/moderations', '/v1/audio', '/v1/images'],
    load: async () => (await import('./routes/models/passed-requests.ts')).passedRequestRoutes,
  },
  { roots: ['/v1/files', '/v1/batches'], load: async () => (await import('./routes/models/passed-files.ts')).passedFileRoutes },
  { roots: ['/v1/agents'], load: async () => (await import('./routes/models/agents.ts')).agentRoutes },
  { roots: ['/v1/agents'], load: async () => (await import('./routes/models/agent-impact.ts')).agentImpactRoutes },
  { roots: ['/v1/skills'], load: async () => (await import('./routes/toolsets/skills.ts')).skillRoutes },
  { roots: ['/v1/keys'], load: async () => (await import('./routes/people/keys.ts')).keyRoutes },
  { roots: ['/v1/grants'], load: async () => (await import('./routes/people/grants.ts')).grantRoutes },
  { roots: ['/.well-known', '/oauth'], load: async () => (await import('./routes/people/oauth.ts')).oauthRoutes },
  { roots: ['/oauth'], load: async () => (await import('./routes/people/oauth-authorize.ts')).oauthAuthorizeRoutes },
  { roots: ['/v1/members'], load: async () => (await import('./routes/people/members.ts')).memberRoutes },
  { roots: ['/v1/master-key'], load: async () => (await import('./routes/service/master-key.ts')).masterKeyRoutes },
  { roots: ['/v1/me'], load: async () => (await import('./routes/people/me.ts')).meRoutes },
  { roots: ['/v1/limits'], load: async () => (await import('./routes/records/limits.ts')).limitRoutes },
  { roots: ['/v1/workspaces'], load: async () => (await import('./routes/people/workspaces.ts')).workspaceRoutes },
  { roots: ['/v1/projects'], load: async () => (await import('./routes/records/projects.ts')).projectRoutes },
  { roots: ['/v1/import'], load: async () => (await import('./routes/records/import.ts')).importRoutes },
  { roots: ['/v1/export', '/moniker.schema.json'], load: async () => (await import('./routes/records/export.ts')).exportRoutes },
  { roots: ['/v1/webhooks'], load: async () => (await import('./routes/triggers/webhooks.ts')).webhookRoutes },
  { roots: ['/v1/deliveries', '/v1/webhooks'], load: async () => (await import('./routes/triggers/deliveries.ts')).deliveryRoutes },
  { roots: ['/hooks'], load: async () => (await import('./routes/triggers/hooks.ts')).hookRoutes },
  { roots: ['/v1/schedules'], load: async () => (await import('./routes/triggers/schedules.ts')).scheduleRoutes },
  { roots: ['/v1/schedules'], load: async () => (await import('./routes/triggers/schedule-runs.ts')).scheduleRunRoutes },
  { roots: ['/v1/subscriptions'], load: async () => (await import('./routes/triggers/subscriptions.ts')).subscriptionRoutes },
  { roots: ['/v1/callbacks'], load: async () => (await import('./routes/triggers/callbacks.ts')).callbackRoutes },
  { roots: ['/v1/sessions'], load: async () => (await import('./routes/sessions/sessions.ts')).sessionRoutes },
  { roots: ['/v1/sessions'], load: async () => (await import('./routes/sessions/session-files.ts')).sessionFileRoutes },
  { roots: ['/v1/sessions'], load: async () => (await import('./routes/sessions/turns.ts')).turnRoutes },
  { roots: ['/v1/sessions'], load: async () => (await import('./routes/sessions/session-prompts.ts')).sessionPromptRoutes },
  { roots: ['/v1/sessions'], load: async () => (await import('./routes/tools/tool-results.ts')).toolResultRoutes },
  { roots: ['/v1/approvals', '/v1/sessions'], load: async () => (await import('./routes/sessions/approvals.ts')).approvalRoutes },
  { roots: ['/approve'], load: async () => (await import('./routes/sessions/approve-page.ts')).approvePageRoutes },
  { roots: ['/sign-in', '/sign-out'], load: async () => (await import('./routes/people/sign-in.ts')).signInRoutes },
  { roots: ['/sign-in'], load: async () => (await import('./routes/people/identity.ts')).identityRoutes },
  { roots: ['/v1/chat'], load: async () => (await import('./routes/chat/chat-completions.ts')).chatCompletionRoutes },
  { roots: ['/v1/responses'], load: async () => (await import('./routes/chat/responses.ts')).responsesRoutes },
  { roots: ['/v1/conversations'], load: async () => (await import('./routes/chat/conversations.ts')).conversationRoutes },
  // Before `/v1/messages/{id}`.
  { roots: ['/v1/messages'], load: async () => (await import('./routes/models/message-batches.ts')).messageBatchRoutes },
  { roots: ['/v1/messages'], load: async () => (await import('./routes/chat/messages.ts')).messagesRoutes },
  { roots: ['/v1beta', '/v1/models'], load: async () => (await import('./routes/chat/gemini.ts')).geminiRoutes },
  { roots: ['/v1beta', '/v1/models'], load: async () => (await import('./routes/models/gemini-models.ts')).geminiModelRoutes },
  { roots: ['/v1/ai-sdk'], load: async () => (await import('./routes/chat/ai-sdk.ts')).aiSdkRoutes },
  { roots: ['/agui'], load: async () => (await import('./routes/chat/ag-ui.ts')).agUiRoutes },
  { roots: ['/mcp'], load: async () => (await import('./routes/toolsets/mcp.ts')).mcpRoutes },
  { roots: ['/sse'], load: async () => (await import('./routes/toolsets/sse.ts')).sseRoutes },
  { roots: ['/v1/audit'], load: async () => (await import('./routes/records/audit.ts')).auditRoutes },
  { roots: ['/v1/usage', '/v1/requests'], load: async () => (await import('./routes/records/usage.ts')).usageRoutes },
  { roots: ['/v1/replays'], load: async () => (await import('./routes/replays/replays.ts')).replayRoutes },
  { roots: ['/v1/suites'], load: async () => (await import('./routes/records/suites.ts')).suiteRoutes },
  { roots: ['/v1/backup', '/v1/restore'], load: async () => (await import('./routes/records/backup.ts')).backupRoutes },
  { roots: ['/', '/console', '/assets'], load: async () => (await import('./routes/service/service-pages.ts')).pageRoutes },
  {
    roots: ['/openapi.json', '/docs'],
    load: async () => (await import('./routes/service/service-pages.ts')).openApiRoutes(buildOpenApi),
  },
];

/** Returns the routes of these modules, in order. */
export async function loadRoutes(modules: readonly RouteModule[]): Promise<Route[]> {
  return (await Promise.all(modules.map(({ load }) => load()))).flat();
}

async function buildOpenApi(): Promise<object> {
  const { buildOpenApi: build } = await import('./openapi.ts');
  return build(await loadRoutes(routeModules));
}
