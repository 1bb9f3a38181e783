/**
 * An agent of Kiro (`.kiro/agents/<name>.json`, formerly Amazon Q): servers, the tools it has, their aliases and those that need no approval.
 * Kiro, "Agent configuration reference". Its `mcp.json` has the form that all clients share.
 */
import { type Json, listOf, recordOf, stringOf } from '../json/wire-value.ts';
import type { ImportDraft } from './draft.ts';
import { addMcpServer } from './mcp-server.ts';
import { createVariables } from './variables.ts';

export function readKiroAgent(draft: ImportDraft, value: Json): void {
  const name = stringOf(value.name) === '' ? 'kiro' : stringOf(value.name);
  const servers = new Map<string, string>();
  /** By server: the tools that its entry leaves out, or runs without approval. */
  const disabled = new Map<string, string[]>();
  const approved: string[] = [];
  for (const [written, entry] of Object.entries(recordOf(value.mcpServers))) {
    const server = addMcpServer(draft, written, entry, createVariables());
    if (server === null) continue;
    servers.set(written, server);
    const { disabledTools, autoApprove } = recordOf(entry);
    disabled.set(
      server,
      listOf(disabledTools)
        .map(stringOf)
        .filter((tool) => tool !== ''),
    );
    approved.push(...listOf(autoApprove).map((tool) => `@${written}/${stringOf(tool)}`));
  }
  const entries = new Map<string, Json>();
  /** Returns the canonical name or pattern of `@server`, `@server/tool`; null and a skipped row for what is not a server's. */
  const canonical = (reference: string, why: string): string | null => {
    const [, written = '', tool = '*'] = /^@([^/]+)(?:\/(.+))?$/.exec(reference) ?? [];
    if (written === '' || written === 'builtin') {
      draft.skip(
        reference,
        `${why}: the tools that Kiro itself brings do not exist here. builtin.bash, builtin.read_file and others do the same`,
      );
      return null;
    }
    if (/\*.|\?/.test(tool)) {
      draft.skip(reference, `${why}: a pattern may have one "*", at its end`);
      return null;
    }
    return `${servers.get(written) ?? draft.nameOf('servers', written)}.${tool}`;
  };
  const entry = (tool: string): Json => {
    const except = tool.endsWith('.*') ? (disabled.get(tool.slice(0, -2)) ?? []) : [];
    const found = entries.get(tool) ?? { tool, ...(except.length > 0 && { except }) };
    entries.set(tool, found);
    return found;
  };
  const listed = listOf(value.tools).map(stringOf);
  for (const server of servers.values()) if (listed.length === 0 || listed.includes('*')) entry(`${server}.*`);
  for (const reference of listed) {
    const tool = reference === '*' || reference === '' ? null : canonical(reference, 'in tools');
    if (tool !== null) entry(tool);
  }
  for (const [reference, written] of Object.entries(recordOf(value.toolAliases))) {
    const tool = canonical(reference, 'in toolAliases');
    if (tool === null) continue;
    if (tool.endsWith('*')) {
      draft.skip(reference, 'in toolAliases: an alias is for one tool');
      continue;
    }
    const alias = draft.alias({ skipped: `${reference} in toolAliases`, warned: `toolsets.${name}` }, written);
    if (alias !== null) entry(tool).aliases = [alias];
  }
  for (const reference of [...listOf(value.allowedTools).map(stringOf), ...approved]) {
    const tool = reference === '' ? null : canonical(reference, 'in allowedTools');
    if (tool !== null) entry(tool).approval = 'never';
  }
  if (entries.size > 0) {
    const toolset = draft.add('toolsets', name, { ...described(value), tools: [...entries.values()] });
    if (toolset !== null) addAgent(draft, name, toolset, value);
  }
  const others = ['hooks', 'resources', 'toolsSettings'];
  draft.skipMembers(value, others, 'has no counterpart: rules of the policy and skills do similar things');
}

function addAgent(draft: ImportDraft, name: string, toolset: string, value: Json): void {
  const prompt = stringOf(value.prompt);
  if (prompt === '') return;
  if (prompt.startsWith('file://')) {
    draft.skip(
      `agent ${name}`,
      `its prompt is in ${prompt.slice(0, 200)}, which is not part of the file. Create the agent with the text as instructions`,
    );
    return;
  }
  const agent = draft.add('agents', name, { ...described(value), model: 'rehearsal/default', instructions: prompt, toolset });
  if (agent !== null)
    draft.warn(
      `agents.${agent}`,
      `it uses the rehearsal model, since ${JSON.stringify(value.model ?? null)} is a model of Kiro. Set another model`,
    );
}

function described({ description }: Json): Json {
  return typeof description === 'string' && description !== '' ? { description: description.slice(0, 500) } : {};
}
