/** What a client learns when it connects: identity, capabilities and instructions, by `initialize` or `server/discover`. */
import { joinParagraphs } from '../../core/text/paragraphs.ts';
import { configurationTools } from '../../core/names/reserved-names.ts';
import { resolveName } from '../../core/toolset/alias-map.ts';
import { serverPrompt } from '../../core/turn/system-prompt.ts';
import { isRecord } from '../../core/json/wire-value.ts';
import { version } from '../../core/version.ts';
import { servedServers } from '../../engine/mcp/read-offers.ts';
import { readServerExtensions, readServerInstructions } from '../../engine/mcp/serve-resources.ts';
import { skillsExtension } from '../../core/tools/mcp-input.ts';
import { hasSkills } from '../../engine/mcp/serve-skills.ts';
import type { ServedView, ServeTarget } from '../../engine/mcp/serve-view.ts';
import type { Exchange, ServeDeps } from './exchange.ts';
import type { RpcParams } from './messages.ts';
import { modernRevision, newestSessionRevision, sessionRevisions } from './revisions.ts';
import { invalidParams } from './rpc-fault.ts';

/** Returns the cache time of our lists for clients: a change is visible elsewhere within 90 s. The key may equip another toolset later. */
export function mcpListTtlMs(target: ServeTarget): number {
  return target === null ? 0 : 30_000;
}

export function serverIdentity(target: ServeTarget) {
  return { name: 'moniker', title: target === null ? 'Moniker' : `Moniker: ${target}`, version };
}

/** Whether prompts and resources are served. The key may equip another toolset later. */
export function hasOffers(target: ServeTarget, view: ServedView): boolean {
  return target === null || servedServers(view).length > 0 || hasSkills(view);
}

/** Returns what is wrong with the parameters of `initialize`; null: nothing. */
export function initializeFault({ protocolVersion, capabilities, clientInfo }: RpcParams): string | null {
  if (typeof protocolVersion !== 'string') return '`protocolVersion` must be a string';
  if (!isRecord(capabilities)) return '`capabilities` must be an object';
  const isNamed = isRecord(clientInfo) && typeof clientInfo.name === 'string' && typeof clientInfo.version === 'string';
  return isNamed ? null : '`clientInfo` must be an object with `name` and `version`';
}

/** A client that names a revision that is not served gets the newest, and decides whether it continues (MCP, version negotiation). */
export async function initialize(exchange: Exchange, params: RpcParams): Promise<Record<string, unknown>> {
  const fault = initializeFault(params);
  if (fault !== null) throw invalidParams(`Invalid params of initialize: ${fault}.`);
  const asked = String(params.protocolVersion);
  const view = await exchange.viewOf();
  return {
    protocolVersion: sessionRevisions.includes(asked) ? asked : newestSessionRevision,
    capabilities: await capabilitiesOf(exchange, view),
    serverInfo: serverIdentity(exchange.target),
    ...(await instructionsOf(exchange, view)),
  };
}

export async function answerDiscover(exchange: Exchange): Promise<Record<string, unknown>> {
  const view = await exchange.viewOf();
  const capabilities = await capabilitiesOf(exchange, view);
  return { supportedVersions: [modernRevision], capabilities, ...(await instructionsOf(exchange, view)) };
}

async function capabilitiesOf({ deps, principal, target }: Pick<Exchange, 'deps' | 'principal' | 'target'>, view: ServedView) {
  const ofServers = await readServerExtensions(deps, principal.workspace, view);
  const own = hasSkills(view) ? { [skillsExtension]: { directoryRead: true } } : undefined;
  const extensions = own === undefined ? ofServers : { ...ofServers, ...own };
  const offers = { prompts: { listChanged: true }, resources: { subscribe: true, listChanged: true }, completions: {} };
  return { tools: { listChanged: true }, logging: {}, ...(hasOffers(target, view) && offers), ...(extensions && { extensions }) };
}

async function instructionsOf({ deps, principal }: { deps: ServeDeps; principal: Exchange['principal'] }, view: ServedView) {
  const own = await readServerInstructions(deps, principal.workspace, view);
  const instructions = joinParagraphs(ownInstructions(view), ...own.map(({ server, text }) => `## Instructions of ${server}\n${text}`));
  return instructions === '' ? {} : { instructions };
}

/** Sent once: instructions of trusted servers. Names and aliases are in the tool descriptions. */
function ownInstructions({ names, mode }: ServedView): string {
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
