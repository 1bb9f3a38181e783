/**
 * What a request asked for and its provider is not sent, in the client's terms. Each dialect makes the collector of a request; whatever
 * leaves something out reports it here, and nowhere else: readers of dialects, the filter of settings, the tool definitions, and the adapters.
 * It is shown in the response header `x-moniker-dropped`, in the request log, and as an event of the turn.
 */
import type { CarriedName } from './wire-settings.ts';

/** `reason`: why, for the log and the event; not in the header. */
export type DroppedItem = { name: string; reason?: string };

/** The request's names of each setting; a setting without one is named as it is in `ModelSettings`. */
export type SettingNames = Partial<Record<CarriedName, string | readonly string[]>>;

export const droppedHeader = 'x-moniker-dropped';

/** Names in one request. Clients choose the names of unknown fields, and a header has a few KB. */
const maxItems = 50;
const maxNameCharacters = 100;

/** `before`: what was left out of the request earlier. */
export function createDropped(names: SettingNames = {}, before: readonly DroppedItem[] = []) {
  const items = new Map(before.map((item) => [item.name, item]));
  let more = 0;
  const add = (name: string, reason?: string): void => {
    const shown = name.length > maxNameCharacters ? `${name.slice(0, maxNameCharacters)}…` : name;
    if (items.has(shown)) return;
    if (items.size >= maxItems) more += 1;
    else items.set(shown, { name: shown, ...(reason !== undefined && { reason }) });
  };
  const dropped = {
    names: { ...names },
    /** The request has the setting at this path, among others. */
    named(setting: CarriedName, path: string) {
      dropped.names[setting] = [...new Set([dropped.names[setting] ?? [], path].flat())];
    },
    /** `name`: a path in the client's request, such as `stop` or `messages[2].name`. Once per name: the first reason stays. */
    add,
    /** The same for a setting, by its neutral name. `part`: only this of it is left out, such as `[4]`. */
    setting: (name: CarriedName, reason?: string, part: string = '') => {
      for (const own of [dropped.names[name] ?? name].flat()) add(`${own}${part}`, reason);
    },
    /** In the order reported. Bounded: the last item then counts the others. */
    items: (): readonly DroppedItem[] => [...items.values(), ...(more > 0 ? [{ name: `and ${more} more` }] : [])],
  };
  return dropped;
}

export type Dropped = ReturnType<typeof createDropped>;

/** Returns the header of a response; none if nothing was dropped. */
export function droppedHeaders(items: readonly DroppedItem[]): Record<string, string> {
  if (items.length === 0) return {};
  return { [droppedHeader]: items.map(({ name }) => nameInHeader(name)).join(', ') };
}

/** A header has printable ASCII only, and a comma separates names. */
export function nameInHeader(name: string): string {
  return name.replace(/[^\x21-\x2b\x2d-\x7e ]/gu, (character) => encodeURIComponent(character));
}
