/** The places of objects with names (`storage/keys.ts`), cached by namespace. */
import { limits } from '../../core/limits/limits.ts';
import { getOrBuild, memoizeByObject } from '../../core/memoize.ts';
import { type NamedKind, objectName } from '../../storage/keys.ts';
import type { ObjectPlace } from './object-client.ts';

/** Returns the place of an object by its name. `note`: called with the name before each use. */
export function objectPlace(
  namespace: DurableObjectNamespace,
  workspace: string,
  kind: NamedKind,
  id: string,
  note?: (name: string) => Promise<void>,
): ObjectPlace {
  const find = async (): Promise<DurableObjectId> => {
    const ids = idsOf(namespace);
    const key = `${workspace} ${id}`;
    const name = ids.get(key)?.name ?? (await objectName(workspace, kind, id));
    await note?.(name);
    return getOrBuild(ids, key, limits.maxCachedNames, () => ({ name, id: namespace.idFromName(name) })).id;
  };
  return { namespace, id: find };
}

const idsOf = memoizeByObject((_namespace: object) => new Map<string, { name: string; id: DurableObjectId }>());
