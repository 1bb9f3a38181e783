/** The configuration tools that list, show, equip, rename and delete saved toolsets. */
import * as z from 'zod';
import { fitRows, buildToolTable } from '../../core/configuration/tool-table.ts';
import { describeToolset, ToolsetInfo, toolsetInfo, ActiveToolset, describeActive } from '../../core/configuration/toolset-info.ts';
import { limits } from '../../core/limits/limits.ts';
import {
  ChangedToolset,
  defineConfigurationTool,
  describeWarnings,
  ExistingName,
  requireToolset,
  shownInfo,
  NewName,
  requireNewName,
  nameTakenMessage,
  describeUsers,
  retryLostWrites,
} from './configuration-tool.ts';
import { quoted } from '../../core/problem.ts';
import { ToolFault } from '../define-tool.ts';

/** Minimum bytes for each toolset in a long list. `get-active-toolset` and `equip-toolset` return a single toolset in full. */
const leastRoom = 2_000;

export const listSavedToolsets = defineConfigurationTool({
  name: 'list-saved-toolsets',
  title: 'List saved toolsets',
  description: 'Lists the saved toolsets with their tools and all names of each tool, and shows which toolset is equipped.',
  input: z.strictObject({
    after: z
      .string()
      .max(64)
      .optional()
      .meta({ description: 'Name of the last toolset of the previous page. Returns the toolsets after it.' }),
  }),
  output: z.object({
    success: z.boolean(),
    error: z.string().optional(),
    toolsets: z.array(ToolsetInfo),
    leftOut: z.int().optional().meta({ description: 'Number of toolsets left out. Request them with `after`.' }),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true },
  failed: (error) => ({ success: false, error, toolsets: [] }),
  async run({ after }, editor) {
    const table = await buildToolTable(await editor.tools(), editor.aliases);
    const { toolset: equipped } = await editor.equipment();
    const stored = (await editor.toolsets()).filter(({ name }) => after === undefined || name > after);
    const room = Math.max(leastRoom, Math.floor(limits.maxConfigurationAnswerBytes / 2 / Math.max(1, stored.length)));
    const infos = stored.map((document) => toolsetInfo(document, table, equipped, room));
    const { rows: toolsets, leftOut } = fitRows(infos, limits.maxConfigurationAnswerBytes);
    const more = leftOut === 0 ? [] : [`${leftOut} more are left out. Continue with after: ${toolsets.at(-1)?.name}.`];
    const text =
      toolsets.length === 0
        ? 'No toolsets are saved. Create one with build-toolset.'
        : [...toolsets.map(describeToolset), ...more].join('\n\n');
    return { answer: { success: true, toolsets, ...(leftOut > 0 && { leftOut }) }, text };
  },
});

export const getActiveToolset = defineConfigurationTool({
  name: 'get-active-toolset',
  title: 'Show the equipped toolset',
  description: 'Shows the equipped toolset: the names of its tools, which of them can be called now, and their size in tokens.',
  input: z.strictObject({}),
  output: ActiveToolset,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true },
  failed: (error) => ({ success: false, error, equipped: false }),
  async run(_request, editor) {
    const { toolset, mode } = await editor.equipment();
    const document = toolset === null ? null : await editor.toolset(toolset);
    const table = await buildToolTable(await editor.tools(), editor.aliases);
    const answer = describeActive(document, mode, table, await editor.servers());
    return { answer, text: tell(answer) };
  },
});

function tell({ toolset, toolSummary, unavailableServers = [], warnings = [], context, mode }: ActiveToolset): string {
  if (toolset === undefined)
    return 'No toolset is equipped. Call list-saved-toolsets to see the saved toolsets, or build-toolset to create one.';
  const down = unavailableServers.map(({ name, status = 'not listing its tools', reason }) => {
    return `the server ${name} is ${status}${reason === undefined ? '' : `: ${reason}`}`;
  });
  const exposed = toolSummary?.currentlyExposed;
  const cost = `${exposed} ${exposed === 1 ? 'tool' : 'tools'} can be called, about ${context?.tokens} tokens (${context?.percent}% of all tools). Mode: ${mode}.`;
  return `${describeToolset(toolset)}\n${cost}${describeWarnings([...down, ...warnings])}`;
}

export const equipToolset = defineConfigurationTool({
  name: 'equip-toolset',
  title: 'Equip a toolset',
  description:
    'Equips a saved toolset for this API key and leaves configuration mode. MCP clients can then call only the tools of this toolset. It stays equipped until another toolset is equipped or unequip-toolset is called.',
  input: z.strictObject({ name: ExistingName }),
  output: z.object({ success: z.boolean(), error: z.string().optional(), toolset: ToolsetInfo.optional() }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
  async run({ name }, editor) {
    const document = await requireToolset(editor, name);
    const { toolset: equipped } = await editor.equip({ toolset: name, mode: 'normal' });
    // The toolset may have been removed meanwhile: the Catalog returns what is equipped now.
    if (equipped !== name) await requireToolset(editor, name);
    const toolset = shownInfo(document, await buildToolTable(await editor.tools(), editor.aliases), equipped);
    return { answer: { success: true, toolset }, text: `Equipped ${describeToolset(toolset)}` };
  },
});

export const unequipToolset = defineConfigurationTool({
  name: 'unequip-toolset',
  title: 'Unequip the toolset',
  description: 'Unequips the toolset of this API key and enters configuration mode. The toolset stays saved.',
  input: z.strictObject({}),
  output: z.object({ success: z.boolean(), error: z.string().optional(), message: z.string() }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
  failed: (error) => ({ success: false, error, message: error }),
  async run(_request, editor) {
    const { toolset } = await editor.equipment();
    await editor.equip({ toolset: null, mode: 'configuration' });
    const message = toolset === null ? 'No toolset was equipped.' : `${toolset} is no longer equipped. It stays saved.`;
    return { answer: { success: true, message }, text: message };
  },
});

export const renameToolsetTool = defineConfigurationTool({
  name: 'rename-toolset',
  title: 'Rename a toolset',
  description:
    'Renames a saved toolset. Its content does not change, and it stays equipped. Agents and MCP URLs that use the old name must be updated.',
  input: z.strictObject({ name: ExistingName, newName: NewName }),
  output: ChangedToolset,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
  async run({ name, newName }, editor) {
    requireNewName(newName, 'newName');
    const uses = await editor.usedBy(name);
    // Keys that have it equipped keep it.
    const users = describeUsers(uses === null ? null : { ...uses, equipped: [] });
    const { document } = await retryLostWrites(async () => {
      const { version } = await requireToolset(editor, name);
      if (newName === name || (await editor.toolset(newName)) !== null) throw nameTakenMessage(newName, 'newName');
      return await editor.rename(name, newName, version);
    });
    const toolset = shownInfo(document, await buildToolTable(await editor.tools(), editor.aliases), (await editor.equipment()).toolset);
    const named = `${users === '' ? '' : `${users}; `}MCP URLs (/mcp/${name})`;
    const warnings = [`the name ${name} no longer works. Change it to ${newName} in: ${named}`];
    return {
      answer: { success: true, toolset, warnings },
      text: `${name} is now ${describeToolset(toolset)}${describeWarnings(warnings)}`,
    };
  },
});

export const deleteToolsetTool = defineConfigurationTool({
  name: 'delete-toolset',
  title: 'Delete a toolset',
  description: 'Deletes a saved toolset for all its users. Requires confirm: true. If it is equipped, no toolset is equipped afterwards.',
  input: z.strictObject({
    name: ExistingName,
    confirm: z.boolean().optional().meta({ description: 'Must be true. Ask the user before you set it.' }),
  }),
  output: z.object({ success: z.boolean(), error: z.string().optional(), message: z.string() }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false },
  failed: (error) => ({ success: false, error, message: error }),
  async run({ name, confirm = false }, editor) {
    const { body } = await requireToolset(editor, name);
    const { length } = body.tools as unknown[];
    const users = describeUsers(await editor.usedBy(name));
    if (!confirm) {
      const named = users === '' ? '' : `, used by ${users},`;
      throw new ToolFault(`confirm: deleting ${quoted(name)} (${length} tools)${named} requires confirm: true; ask its users first`);
    }
    const { toolset: equipped } = await editor.equipment();
    await retryLostWrites(async () => editor.remove(name, (await requireToolset(editor, name)).version));
    const left = users === '' ? '' : ` It was used by ${users}.`;
    const message = `Deleted ${name}.${equipped === name ? ' It was equipped; no toolset is equipped now.' : ''}${left}`;
    return { answer: { success: true, message }, text: message };
  },
});
