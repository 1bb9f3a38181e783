/** The names under which definitions of one tool are sent to a model. Used to send, count and measure them. */

type Named = { wireName: string; aliases: readonly { name: string; mode: string }[] };

/**
 * Returns the wire name, then the `function` aliases, each of which is sent as a separate definition. An alias that became the wire
 * name is not sent twice.
 */
export function definitionNames({ wireName, aliases }: Named): string[] {
  return [wireName, ...aliases.flatMap(({ name, mode }) => (mode === 'function' && name !== wireName ? [name] : []))];
}
