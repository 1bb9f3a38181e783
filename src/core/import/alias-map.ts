/**
 * A map of names, as an architecture decision record of an application lists them: `{flashcards: "create_flashcard"}`, `{create_flashcard:
 * ["flashcards"]}`, or rows of tools with a function name. They become the name map of the workspace: hidden aliases of its tools.
 */
import { isRecord, type Json, recordOf, stringOf } from '../json/wire-value.ts';
import type { ImportDraft } from './draft.ts';
import type { Members } from './members.ts';

const mapMembers = ['aliases', 'nameMap', 'toolAliases', 'name_map', 'tools'];
const rowMembers = ['functionName', 'function_name', 'canonical', 'tool'];

/** Whether a value is a map of names, or has one. */
export function hasAliasMap(value: unknown): boolean {
  return mapIn(value) !== null;
}

/** Whether its names are such that it can be nothing else. */
export function isAliasMap(value: unknown): boolean {
  return Object.keys(mapIn(value) ?? { '': '' }).every((name) => /^[\w .:@/-]{1,128}$/.test(name));
}

function mapIn(value: unknown): Json | null {
  const outer = recordOf(value);
  const inner = mapMembers.map((member) => outer[member]).find((one) => isRecord(one) && isMap(one));
  if (isRecord(inner)) return inner;
  return isRecord(value) && isMap(value) ? value : null;
}

function isMap(value: Json): boolean {
  const targets = Object.values(value);
  return targets.length > 0 && targets.every((target) => typeof target === 'string' || isNames(target) || functionNameOf(target) !== null);
}

export function readAliasMap(draft: ImportDraft, file: Members): void {
  const map = new Map<string, string>();
  const add = (written: string, target: string, path: string): void => {
    const name = written.trim();
    if (name === '' || name.length > 128 || target.trim() === '' || target.length > 192)
      draft.skip(path, 'was skipped: a name must have 1 to 128 characters, and its target 1 to 192');
    else if (map.has(name) && map.get(name) !== target) draft.skip(path, `already stands for ${JSON.stringify(map.get(name))}`);
    else if (name !== target) {
      map.set(name, target);
      draft.mapName(name, target);
    } else draft.skip(path, 'has its own name as the target, which needs no entry');
  };
  const member = mapMembers.find((name) => isRecord(file.peek(name)) && isMap(recordOf(file.peek(name))));
  const names = member === undefined ? file : file.record(member);
  for (const name of names?.names() ?? []) {
    const path = names?.pathOf(name) ?? name;
    const value = names?.peek(name);
    const row = isRecord(value) ? (names?.record(name) ?? null) : null;
    if (row !== null) {
      const target = rowMembers.map((one) => row.text(one) ?? '').find((text) => text !== '') ?? '';
      add(name, target, path);
      for (const alias of isNames(row.peek('aliases')) ? (row.texts('aliases') ?? []) : []) add(alias, target, path);
      row.ignore('type', 'label', 'category', 'description', 'icon', 'name', 'id');
    } else if (typeof value === 'string') add(name, names?.text(name) ?? '', path);
    else for (const alias of names?.texts(name) ?? []) add(alias, name, path);
  }
  draft.warn('workspace.settings.nameMap', 'a name takes effect in each toolset that has its tool');
}

/** A row such as `{type, functionName, label, category}`. */
function functionNameOf(value: unknown): string | null {
  return rowMembers.map((member) => stringOf(recordOf(value)[member])).find((name) => name !== '') ?? null;
}

function isNames(value: unknown): value is string[] {
  return Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'string');
}
