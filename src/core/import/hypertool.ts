/**
 * Toolsets and preferences of HyperTool: `{toolsets: {name: {version, createdAt, tools: [{namespacedName, refId, alias}], toolNotes}},
 * lastEquippedToolset}`, or one toolset. Its `refId` hashes other fields than ours, so it is no reference here and is left out with a warning.
 */
import { isRecord, type Json, listOf, recordOf, stringOf } from '../json/wire-value.ts';
import { limits } from '../limits/limits.ts';
import { listFirst } from '../text/paragraphs.ts';
import { cutToBytes } from '../text/utf8.ts';
import type { ImportDraft } from './draft.ts';

type Note = { name: string; note: string };

export function readHyperTool(draft: ImportDraft, value: Json): void {
  const rows = toolsetsOf(value);
  for (const [written, toolset] of rows) readToolset(draft, written, toolset);
  const equipped = stringOf(value.lastEquippedToolset);
  if (equipped !== '' && draft.has('toolsets', equipped))
    draft.warn(
      'lastEquippedToolset',
      `${JSON.stringify(equipped)} was equipped: MCP clients use it at /mcp/${draft.nameOf('toolsets', equipped)}`,
    );
  else if (equipped !== '') draft.skip(equipped, 'is the last equipped toolset, but is not in the file');
}

/** A map, a list, or one toolset. */
function toolsetsOf(value: Json): [string, unknown][] {
  if (isRecord(value.toolsets)) return Object.entries(value.toolsets);
  const list = Array.isArray(value.toolsets) ? value.toolsets : [value];
  return list.map((toolset, index) => [stringOf(recordOf(toolset).name) || `toolset ${index + 1}`, toolset]);
}

function readToolset(draft: ImportDraft, written: string, value: unknown): void {
  if (!isRecord(value)) {
    draft.skip(written, 'is not an object with `tools`');
    return;
  }
  const notes = notesByTool(value.toolNotes);
  const entries = new Map<string, Json>();
  const pinned: string[] = [];
  for (const [index, item] of listOf(value.tools).entries()) {
    const { namespacedName, refId, alias } = recordOf(item);
    const name = stringOf(namespacedName);
    const where = `${written}.tools[${index}]`;
    const dot = name.indexOf('.');
    if (dot < 1 || dot === name.length - 1) {
      draft.skip(
        where,
        name === '' && typeof refId === 'string'
          ? 'names its tool by a refId of HyperTool only, which nothing here has'
          : 'has no namespacedName such as server.tool',
      );
      continue;
    }
    const tool = `${draft.nameOf('servers', name.slice(0, dot))}.${name.slice(dot + 1)}`;
    if (tool !== name) draft.warn(where, `${JSON.stringify(name)} is ${tool} here`);
    if (entries.has(tool)) {
      draft.skip(where, `${name} is in the toolset twice`);
      continue;
    }
    const given = [...(notes.get(name) ?? []), ...(typeof refId === 'string' ? (notes.get(refId) ?? []) : [])];
    for (const note of given.slice(limits.maxNotesPerEntry))
      draft.skip(`${where} note ${note.name}`, `is more than the ${limits.maxNotesPerEntry} notes that a tool can have`);
    const kept = given.slice(0, limits.maxNotesPerEntry);
    entries.set(tool, { tool, ...aliasOf(draft, where, alias), ...(kept.length > 0 && { notes: kept }) });
    if (stringOf(refId) !== '') pinned.push(tool);
  }
  if (pinned.length > 0)
    draft.warn(written, `the refId of ${listFirst(pinned, 3)} is left out: it is a hash of other members than that of Moniker`);
  if (entries.size === 0) {
    draft.skip(written, 'has no tools that can be taken');
    return;
  }
  const description = cutToBytes(stringOf(value.description), limits.maxDescriptionBytes);
  draft.add('toolsets', written, { ...(description !== '' && { description }), tools: [...entries.values()] });
}

function aliasOf(draft: ImportDraft, where: string, written: unknown): Json {
  if (typeof written !== 'string' || written.trim() === '') return {};
  const alias = draft.alias({ skipped: `${where}.alias`, warned: where }, written);
  return alias === null ? {} : { aliases: [alias] };
}

/** By namespaced name or refId. */
function notesByTool(value: unknown): Map<string, Note[]> {
  const found = new Map<string, Note[]>();
  for (const item of listOf(value)) {
    const { toolRef, notes } = recordOf(item);
    const { namespacedName, refId } = recordOf(toolRef);
    const texts = listOf(notes).flatMap((one): Note[] => {
      const { name, note } = recordOf(one);
      const text = cutToBytes(stringOf(note), limits.maxNoteBytes);
      return text === '' ? [] : [{ name: stringOf(name).slice(0, 50) || 'note', note: text }];
    });
    for (const key of [namespacedName, refId])
      if (typeof key === 'string' && texts.length > 0) found.set(key, [...(found.get(key) ?? []), ...texts]);
  }
  return found;
}
