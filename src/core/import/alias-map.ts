/**
 * A map of names, as an architecture decision record of an application lists them: `{flashcards: "create_flashcard"}`, `{create_flashcard:
 * ["flashcards"]}`, or rows of tools with a function name. They become the name map of the workspace: hidden aliases of its tools.
 */
import { isRecord, type Json, recordOf, stringOf } from '../json/wire-value.ts';
import type { ImportDraft } from './draft.ts';

/** Returns the map in a value; null if the value is no map. */
export function aliasMapIn(value: unknown): Json | null {
  const outer = recordOf(value);
  const inner = [outer.aliases, outer.nameMap, outer.toolAliases, outer.name_map, outer.tools].find((one) => isRecord(one) && isMap(one));
  if (isRecord(inner)) return inner;
  return isRecord(value) && isMap(value) ? value : null;
}

function isMap(value: Json): boolean {
  const targets = Object.values(value);
  return targets.length > 0 && targets.every((target) => typeof target === 'string' || isNames(target) || functionNameOf(target) !== null);
}

export function readAliasMap(draft: ImportDraft, value: unknown): void {
  const map = new Map<string, string>();
  const add = (written: string, target: string): void => {
    const name = written.trim();
    if (name === '' || name.length > 128 || target.trim() === '' || target.length > 192)
      draft.skip(written, 'was skipped: a name must have 1 to 128 characters, and its target 1 to 192');
    else if (map.has(name) && map.get(name) !== target) draft.skip(written, `already stands for ${JSON.stringify(map.get(name))}`);
    else if (name !== target) {
      map.set(name, target);
      draft.mapName(name, target);
    } else draft.skip(written, 'has its own name as the target, which needs no entry');
  };
  for (const [name, target] of Object.entries(aliasMapIn(value) ?? {})) {
    const row = functionNameOf(target);
    if (typeof target === 'string') add(name, target);
    else if (row !== null) {
      add(name, row);
      if (isNames(recordOf(target).aliases)) for (const alias of recordOf(target).aliases as string[]) add(alias, row);
    } else for (const alias of target as string[]) add(alias, name);
  }
  draft.warn('workspace.settings.nameMap', 'a name takes effect in each toolset that has its tool');
}

/** A row such as `{type, functionName, label, category}`. */
function functionNameOf(value: unknown): string | null {
  const { functionName, function_name, canonical, tool } = recordOf(value);
  const name = stringOf(functionName) || stringOf(function_name) || stringOf(canonical) || stringOf(tool);
  return name === '' ? null : name;
}

function isNames(value: unknown): value is string[] {
  return Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'string');
}
