/**
 * Serves a toolset as an MCP server of any era: the SDK's low-level `Server` with our handlers. It lives for one request, or for as long as
 * a session is awake; every response is computed from current data.
 */
import { Server } from '@modelcontextprotocol/server';
import { limits } from '../../core/limits/limits.ts';
import { serverPrompt } from '../../core/turn/system-prompt.ts';
import { resolveName } from '../../core/toolset/alias-map.ts';
import { configurationTools } from '../../core/names/reserved-names.ts';
import { joinParagraphs } from '../../core/text/paragraphs.ts';
import { version } from '../../core/version.ts';
import { servedServers } from '../../engine/mcp/serve-resources.ts';
import type { ServedView, ServeTarget } from '../../engine/mcp/serve-view.ts';
import { createWithCaller, type ServeContext } from './serve-context.ts';
import { registerResourceHandlers } from './resource-handlers.ts';
import { registerToolHandlers } from './tool-handlers.ts';

/** Returns the cache time of our lists for clients: a change is visible elsewhere within 90 s. The key may equip another toolset later. */
export function mcpListTtlMs(target: ServeTarget): number {
  return target === null ? 0 : 30_000;
}

/** `view`: the current view; capabilities and instructions are sent once. `own`: the servers' own instructions, for a client that connects. */
export function buildServer(serving: ServeContext, view: ServedView, own: readonly { server: string; text: string }[] = []): Server {
  // The key may equip another toolset later.
  const hasOffers = serving.target === null || servedServers(view).length > 0;
  const hint = { ttlMs: mcpListTtlMs(serving.target), cacheScope: 'private' } as const;
  const instructions = joinParagraphs(instructionsOf(view), ...own.map(({ server, text }) => `## Instructions of ${server}\n${text}`));
  const server = new Server(serverIdentity(serving.target), {
    capabilities: {
      tools: { listChanged: true },
      logging: {},
      ...(hasOffers && { prompts: { listChanged: true }, resources: { subscribe: true, listChanged: true }, completions: {} }),
    },
    cacheHints: {
      'tools/list': hint,
      'server/discover': hint,
      ...(hasOffers && { 'prompts/list': hint, 'resources/list': hint, 'resources/templates/list': hint }),
    },
    inputRequired: { maxRounds: limits.maxInputRounds, roundTimeoutMs: limits.mcpQuestionTimeoutMs },
    ...(instructions !== '' && { instructions }),
  });
  const answering = createWithCaller(serving, server);
  registerToolHandlers(server, serving, answering);
  if (hasOffers) registerResourceHandlers(server, serving, answering);
  return server;
}

export function serverIdentity(target: ServeTarget) {
  return { name: 'moniker', title: target === null ? 'Moniker' : `Moniker: ${target}`, version };
}

/** Sent once, at `initialize` or `server/discover`: instructions of trusted servers. Names and aliases are in the tool descriptions. */
function instructionsOf({ names, mode }: ServedView): string {
  if (mode === null) return serverPrompt(names);
  const mayConfigure = configurationTools.some((name) => resolveName(names, name).ok);
  if (mode === 'configuration' && !mayConfigure) return nothingEquipped;
  return joinParagraphs(mode === 'normal' && !mayConfigure ? '' : modes[mode], serverPrompt(names));
}

const nothingEquipped =
  'No toolset is equipped for this API key, and it lacks the scope "toolsets" to equip one, so no tools are listed. The tools of a toolset are available at /mcp/{toolset}.';

const modes = {
  configuration:
    'Configuration mode: these tools list available tools, save them as a toolset under names of your choice (build-toolset) and equip it (equip-toolset). The tools of the equipped toolset are listed and can be called after you leave this mode.',
  normal: 'The tools of the equipped toolset. To change it, or to equip another one, call enter-configuration-mode.',
} as const;
