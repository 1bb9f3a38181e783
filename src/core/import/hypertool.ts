/**
 * Toolsets, preferences and personas of HyperTool: `{toolsets: {name: {version, createdAt, tools: [{namespacedName, refId, alias}], toolNotes}},
 * lastEquippedToolset}`, one toolset, or `persona.yaml` with `toolsets: [{name, toolIds}]`. Its `refId` hashes other fields than ours, so it is
 * no reference here and is left out with a warning. HyperTool, `src/persona/schemas.ts`.
 */
import { isRecord, type Json, listOf, recordOf, stringOf } from '../json/wire-value.ts';
import { limits } from '../limits/limits.ts';
import { listFirst } from '../text/paragraphs.ts';
import { cutToBytes } from '../text/utf8.ts';
import type { ImportDraft } from './draft.ts';
import type { Members } from './members.ts';

/** Whether a value is such a file. */
export function isHyperTool(value: unknown): boolean {
  const { toolsets, tools, lastEquippedToolset } = recordOf(value);
  if (lastEquippedToolset !== undefined && toolsets !== undefined) return true;
  const all = [value, ...(Array.isArray(toolsets) ? toolsets : Object.values(recordOf(toolsets)))].map(recordOf);
  return (
    (tools !== undefined || toolsets !== undefined) &&
    all.some((toolset) => Array.isArray(toolset.toolIds) || listOf(toolset.tools).some((tool) => 'namespacedName' in recordOf(tool)))
  );
}

type Note = { name: string; note: string };

export function readHyperTool(draft: ImportDraft, file: Members): void {
  const hasPersona = Array.isArray(file.peek('toolsets')) && listOf(file.peek('toolsets')).some((one) => 'toolIds' in recordOf(one));
  const persona = hasPersona ? file.text('name') : null;
  const description = hasPersona ? file.text('description') : null;
  if (hasPersona) file.ignore('metadata', 'version');
  for (const [written, toolset] of toolsetsOf(file)) readToolset(draft, withPersona(persona, written), toolset, description);
  for (const member of ['lastEquippedToolset', 'defaultToolset']) {
    const equipped = file.text(member) ?? '';
    const name = withPersona(persona, equipped);
    if (equipped !== '' && draft.has('toolsets', name))
      draft.warn(
        file.pathOf(member),
        `${JSON.stringify(equipped)} was equipped: MCP clients use it at /mcp/${draft.nameOf('toolsets', name)}`,
      );
    else if (equipped !== '') file.fault(member, `${JSON.stringify(equipped)} is equipped at the start, but is not in the file`);
  }
  file.ignore('appConfig', 'version', 'lastModified', '$schema');
}

/** Two personas may have toolsets of one name. */
function withPersona(persona: string | null, toolset: string): string {
  return persona === null ? toolset : `${persona}-${toolset}`;
}

/** A map, a list, or one toolset. */
function toolsetsOf(file: Members): [string, Members][] {
  if (isRecord(file.peek('toolsets'))) return file.entries('toolsets');
  const list = file.has('toolsets') ? file.items('toolsets') : [file];
  return list.map((toolset, index) => [toolset.text('name') || `toolset ${index + 1}`, toolset]);
}

function readToolset(draft: ImportDraft, written: string, toolset: Members, otherwise: string | null): void {
  const notes = notesByTool(toolset);
  const entries = new Map<string, Json>();
  const pinned: string[] = [];
  const add = (name: string, place: string, more: () => Json): void => {
    const dot = name.indexOf('.');
    const tool = `${draft.nameOf('servers', name.slice(0, dot))}.${name.slice(dot + 1)}`;
    if (tool !== name) draft.warn(place, `${JSON.stringify(name)} is ${tool} here`);
    if (entries.has(tool)) draft.skip(place, `${name} is in the toolset twice`);
    else entries.set(tool, { tool, ...more() });
  };
  const isTool = (name: string): boolean => /^[^.]+\..+/.test(name);
  for (const [index, id] of (toolset.texts('toolIds') ?? []).entries()) {
    const place = `${toolset.pathOf('toolIds')}[${index}]`;
    if (isTool(id)) add(id, place, () => ({}));
    else draft.skip(place, 'is no name such as server.tool');
  }
  for (const item of toolset.items('tools')) {
    const [name, refId] = [item.text('namespacedName') ?? '', item.text('refId') ?? ''];
    if (!isTool(name)) {
      item.skipWhole(
        name === '' && refId !== ''
          ? 'names its tool by a refId of HyperTool only, which nothing here has'
          : 'has no namespacedName such as server.tool',
      );
      continue;
    }
    item.ignore('server', 'active', 'name');
    add(name, item.path, () => ({
      ...aliasOf(draft, item),
      ...notesOf(draft, item.path, [...(notes.get(name) ?? []), ...(refId === '' ? [] : (notes.get(refId) ?? []))]),
    }));
    if (refId !== '') pinned.push(name);
  }
  if (pinned.length > 0)
    draft.warn(toolset.path, `the refId of ${listFirst(pinned, 3)} is left out: it is a hash of other members than that of Moniker`);
  toolset.ignore('version', 'createdAt', 'lastModified', 'name', 'location', 'toolCount', 'active', 'servers');
  if (entries.size === 0) {
    draft.skip(toolset.path === '' ? written : toolset.path, 'has no tools that can be taken');
    return;
  }
  const description = cutToBytes(toolset.text('description') ?? otherwise ?? '', limits.maxDescriptionBytes);
  draft.add('toolsets', written, { ...(description !== '' && { description }), tools: [...entries.values()] }, toolset.path);
}

function notesOf(draft: ImportDraft, place: string, given: readonly Note[]): Json {
  for (const note of given.slice(limits.maxNotesPerEntry))
    draft.skip(`${place} note ${note.name}`, `is more than the ${limits.maxNotesPerEntry} notes that a tool can have`);
  return given.length === 0 ? {} : { notes: given.slice(0, limits.maxNotesPerEntry) };
}

function aliasOf(draft: ImportDraft, item: Members): Json {
  const written = item.text('alias') ?? '';
  if (written.trim() === '') return {};
  const alias = draft.alias({ skipped: item.pathOf('alias'), warned: item.path }, written);
  return alias === null ? {} : { aliases: [alias] };
}

/** By namespaced name or refId. */
function notesByTool(toolset: Members): Map<string, Note[]> {
  const found = new Map<string, Note[]>();
  for (const item of toolset.items('toolNotes')) {
    const tool = item.record('toolRef');
    const texts = item.items('notes').flatMap((one): Note[] => {
      const text = cutToBytes(one.text('note') ?? '', limits.maxNoteBytes);
      return text === '' ? [] : [{ name: stringOf(one.text('name')).slice(0, 50) || 'note', note: text }];
    });
    for (const key of [tool?.text('namespacedName'), tool?.text('refId')])
      if (typeof key === 'string' && texts.length > 0) found.set(key, [...(found.get(key) ?? []), ...texts]);
  }
  return found;
}
