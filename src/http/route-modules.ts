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
  { roots: ['/healthz', '/readyz'], load: async () => (await import('./routes/service-pages.ts')).healthRoutes },
  { roots: ['/metrics'], load: async () => (await import('./routes/metrics.ts')).metricsRoutes },
  { roots: ['/v1/toolsets'], load: async () => (await import('./routes/toolsets.ts')).toolsetRoutes },
  { roots: ['/v1/toolsets'], load: async () => (await import('./routes/toolset-versions.ts')).toolsetVersionRoutes },
  { roots: ['/v1/toolsets'], load: async () => (await import('./routes/toolset-uses.ts')).toolsetUsesRoutes },
  { roots: ['/v1/toolsets'], load: async () => (await import('./routes/toolset-preview.ts')).toolsetPreviewRoutes },
  { roots: ['/v1/toolsets'], load: async () => (await import('./routes/toolset-tools.ts')).toolsetToolRoutes },
  { roots: ['/v1/toolsets'], load: async () => (await import('./routes/toolset-resolve.ts')).toolsetResolveRoutes },
  { roots: ['/v1/toolsets'], load: async () => (await import('./routes/toolset-use.ts')).toolsetUseRoutes },
  { roots: ['/v1/tools'], load: async () => (await import('./routes/tools.ts')).toolRoutes },
  { roots: ['/v1/tools'], load: async () => (await import('./routes/tool-aliases.ts')).toolAliasRoutes },
  { roots: ['/v1/tools'], load: async () => (await import('./routes/written-tools.ts')).writtenToolRoutes },
  { roots: ['/v1/servers'], load: async () => (await import('./routes/servers.ts')).serverRoutes },
  { roots: ['/v1/servers', '/oauth'], load: async () => (await import('./routes/server-authorize.ts')).serverAuthorizeRoutes },
  { roots: ['/v1/me', '/v1/servers'], load: async () => (await import('./routes/connections.ts')).connectionRoutes },
  { roots: ['/connect'], load: async () => (await import('./routes/connect.ts')).connectRoutes },
  { roots: ['/v1/servers'], load: async () => (await import('./routes/server-tools.ts')).serverToolRoutes },
  { roots: ['/v1/servers'], load: async () => (await import('./routes/server-offers.ts')).serverOfferRoutes },
  { roots: ['/v1/servers'], load: async () => (await import('./routes/server-health.ts')).serverHealthRoutes },
  { roots: ['/v1/programs'], load: async () => (await import('./routes/programs.ts')).programRoutes },
  { roots: ['/v1/providers'], load: async () => (await import('./routes/providers.ts')).providerRoutes },
  { roots: ['/v1/secrets'], load: async () => (await import('./routes/secrets.ts')).secretRoutes },
  { roots: ['/v1/policy'], load: async () => (await import('./routes/policy.ts')).policyRoutes },
  { roots: ['/v1/models'], load: async () => (await import('./routes/models.ts')).modelRoutes },
  { roots: ['/v1/model-aliases'], load: async () => (await import('./routes/model-aliases.ts')).modelAliasRoutes },
  {
    roots: ['/v1/embeddings', '/v1/moderations', '/v1/audio', '/v1/images'],
    load: async () => (await import('./routes/passed-requests.ts')).passedRequestRoutes,
  },
  { roots: ['/v1/agents'], load: async () => (await import('./routes/agents.ts')).agentRoutes },
  { roots: ['/v1/skills'], load: async () => (await import('./routes/skills.ts')).skillRoutes },
  { roots: ['/v1/keys'], load: async () => (await import('./routes/keys.ts')).keyRoutes },
  { roots: ['/v1/grants'], load: async () => (await import('./routes/grants.ts')).grantRoutes },
  { roots: ['/.well-known', '/oauth'], load: async () => (await import('./routes/oauth.ts')).oauthRoutes },
  { roots: ['/oauth'], load: async () => (await import('./routes/oauth-authorize.ts')).oauthAuthorizeRoutes },
  { roots: ['/v1/members'], load: async () => (await import('./routes/members.ts')).memberRoutes },
  { roots: ['/v1/master-key'], load: async () => (await import('./routes/master-key.ts')).masterKeyRoutes },
  { roots: ['/v1/me'], load: async () => (await import('./routes/me.ts')).meRoutes },
  { roots: ['/v1/limits'], load: async () => (await import('./routes/limits.ts')).limitRoutes },
  { roots: ['/v1/workspaces'], load: async () => (await import('./routes/workspaces.ts')).workspaceRoutes },
  { roots: ['/v1/projects'], load: async () => (await import('./routes/projects.ts')).projectRoutes },
  { roots: ['/v1/import'], load: async () => (await import('./routes/import.ts')).importRoutes },
  { roots: ['/v1/export', '/moniker.schema.json'], load: async () => (await import('./routes/export.ts')).exportRoutes },
  { roots: ['/v1/webhooks'], load: async () => (await import('./routes/webhooks.ts')).webhookRoutes },
  { roots: ['/v1/deliveries', '/v1/webhooks'], load: async () => (await import('./routes/deliveries.ts')).deliveryRoutes },
  { roots: ['/hooks'], load: async () => (await import('./routes/hooks.ts')).hookRoutes },
  { roots: ['/v1/schedules'], load: async () => (await import('./routes/schedules.ts')).scheduleRoutes },
  { roots: ['/v1/schedules'], load: async () => (await import('./routes/schedule-runs.ts')).scheduleRunRoutes },
  { roots: ['/v1/subscriptions'], load: async () => (await import('./routes/subscriptions.ts')).subscriptionRoutes },
  { roots: ['/v1/callbacks'], load: async () => (await import('./routes/callbacks.ts')).callbackRoutes },
  { roots: ['/v1/sessions'], load: async () => (await import('./routes/sessions.ts')).sessionRoutes },
  { roots: ['/v1/sessions'], load: async () => (await import('./routes/session-files.ts')).sessionFileRoutes },
  { roots: ['/v1/sessions'], load: async () => (await import('./routes/turns.ts')).turnRoutes },
  { roots: ['/v1/sessions'], load: async () => (await import('./routes/tool-results.ts')).toolResultRoutes },
  { roots: ['/v1/approvals', '/v1/sessions'], load: async () => (await import('./routes/approvals.ts')).approvalRoutes },
  { roots: ['/approve'], load: async () => (await import('./routes/approve-page.ts')).approvePageRoutes },
  { roots: ['/sign-in', '/sign-out'], load: async () => (await import('./routes/sign-in.ts')).signInRoutes },
  { roots: ['/sign-in'], load: async () => (await import('./routes/identity.ts')).identityRoutes },
  { roots: ['/v1/chat'], load: async () => (await import('./routes/chat-completions.ts')).chatCompletionRoutes },
  { roots: ['/v1/responses'], load: async () => (await import('./routes/responses.ts')).responsesRoutes },
  { roots: ['/v1/messages'], load: async () => (await import('./routes/messages.ts')).messagesRoutes },
  { roots: ['/mcp'], load: async () => (await import('./routes/mcp.ts')).mcpRoutes },
  { roots: ['/v1/audit'], load: async () => (await import('./routes/audit.ts')).auditRoutes },
  { roots: ['/v1/usage', '/v1/requests'], load: async () => (await import('./routes/usage.ts')).usageRoutes },
  { roots: ['/v1/backup', '/v1/restore'], load: async () => (await import('./routes/backup.ts')).backupRoutes },
  { roots: ['/', '/console', '/assets'], load: async () => (await import('./routes/service-pages.ts')).pageRoutes },
  {
    roots: ['/openapi.json', '/docs'],
    load: async () => (await import('./routes/service-pages.ts')).openApiRoutes(buildDocument),
  },
];

/** Returns the routes of these modules, in order. */
export async function loadRoutes(modules: readonly RouteModule[]): Promise<Route[]> {
  return (await Promise.all(modules.map(({ load }) => load()))).flat();
}

async function buildDocument(): Promise<object> {
  const { buildDocument: build } = await import('./openapi-document.ts');
  return build(await loadRoutes(routeModules));
}
