/**
 * A toolset as an MCP server: the SDK's low-level `Server` with handlers for what MCP asks of one, in any era. It lives for one request, or
 * in a session for as long as that is awake; everything that it answers is read anew.
 */
import { Server } from '@modelcontextprotocol/server';
import { limits } from '../../core/limits.ts';
import { serverPrompt } from '../../core/system-prompt.ts';
import { resolveName } from '../../core/alias-map.ts';
import { configurationTools } from '../../core/reserved-names.ts';
import { joinParagraphs } from '../../core/paragraphs.ts';
import { version } from '../../core/version.ts';
import { servedServers } from '../../engine/serve/serve-resources.ts';
import type { ServedView } from '../../engine/serve/serve-view.ts';
import { answerer } from './answering.ts';
import { handleOffers } from './offer-handlers.ts';
import type { Serving } from './serving.ts';
import { handleTools } from './tool-handlers.ts';

/** `view`: as it is now; capabilities and instructions are said once. */
export function buildServer(serving: Serving, view: ServedView): Server {
  // What a key has equipped may be another toolset the next time.
  const hasOffers = serving.target === null || servedServers(view).length > 0;
  const ttlMs = serving.target === null ? 0 : limits.mcpListTtlMs;
  const hint = { ttlMs, cacheScope: 'private' } as const;
  const instructions = instructionsOf(view);
  const server = new Server(
    { name: 'moniker', title: titleOf(serving), version },
    {
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
    },
  );
  const answering = answerer(serving, server);
  handleTools(server, serving, answering);
  if (hasOffers) handleOffers(server, serving, answering);
  return server;
}

function titleOf({ target }: Serving): string {
  return target === null ? 'Moniker' : `Moniker: ${target}`;
}

/** Told once, at `initialize` or `server/discover`: what trusted servers say of their tools. Names and aliases stand in the descriptions. */
function instructionsOf({ names, mode }: ServedView): string {
  if (mode === null) return serverPrompt(names);
  const mayConfigure = configurationTools.some((name) => resolveName(names, name).ok);
  if (mode === 'configuration' && !mayConfigure) return nothingEquipped;
  return joinParagraphs(mode === 'normal' && !mayConfigure ? '' : modes[mode], serverPrompt(names));
}

const nothingEquipped =
  'This key has nothing equipped, and lacks the scope "toolsets" to equip anything, so there are no tools here. The tools of a toolset are at /mcp/{toolset}.';

const modes = {
  configuration:
    'Configuration mode: these tools find tools, put them together under names of your choice (build-toolset) and equip them (equip-toolset). What is equipped is listed, and can be called, once you leave this mode.',
  normal: 'The tools of the equipped toolset. To change it, or to equip another one, call enter-configuration-mode.',
} as const;
