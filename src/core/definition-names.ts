/** Under which names a model is sent definitions of one tool. Used by whoever sends them, counts them or weighs them. */

type Named = { wireName: string; aliases: readonly { name: string; mode: string }[] };

/** The wire name, then the `function` aliases, each a definition of its own; one that became the wire name is not sent twice. */
export function definitionNames({ wireName, aliases }: Named): string[] {
  return [wireName, ...aliases.flatMap(({ name, mode }) => (mode === 'function' && name !== wireName ? [name] : []))];
}
