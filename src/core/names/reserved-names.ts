/**
 * Names that a tool cannot or should not have: members of every object, the tools that Moniker adds, and words with a special meaning
 * for models and providers.
 */

/** Tools that turns add to those of a toolset (contract §3.4). The own names of built-in tools. */
const injectedTools = ['use_skill', 'find_tools', 'fetch_result', 'create_tool', 'run_code'] as const;

/** Tools that are also listed over MCP, depending on the key (contract §10). */
export const configurationTools = [
  'list-available-tools',
  'build-toolset',
  'list-saved-toolsets',
  'equip-toolset',
  'unequip-toolset',
  'get-active-toolset',
  'delete-toolset',
  'add-tool-annotation',
  'enter-configuration-mode',
  'exit-configuration-mode',
  'update-toolset',
  'rename-toolset',
  'remove-tool-annotation',
] as const;

/** Wire name → canonical name of the tool that owns it in every toolset. */
export const reservedNames: ReadonlyMap<string, string> = new Map(
  [...injectedTools, ...configurationTools].map((name) => [name, `builtin.${name}`]),
);
export const reservedCanonicals: ReadonlySet<string> = new Set(reservedNames.values());

/** Names that any turn may add, whatever its toolset: wire name → canonical name. */
export const injectedNames: ReadonlyMap<string, string> = new Map(injectedTools.map((name) => [name, `builtin.${name}`]));

/**
 * `constructor`, `__proto__` and the like, in any case. Our own tables are Maps, but clients that turn tool names into properties,
 * and JSON readers on the way, may use objects.
 */
export function isObjectMember(name: string): boolean {
  return objectMembers.has(name.toLowerCase());
}

/** Returns a warning about a name that is legal but problematic; null for most names. */
export function nameWarning(name: string): string | null {
  const meaning = reservedWords.get(name.toLowerCase());
  return meaning === undefined ? null : `"${name}" is ${meaning}; models may misinterpret it`;
}

const objectMembers: ReadonlySet<string> = new Set(
  [
    ...Object.getOwnPropertyNames(Object.prototype),
    'prototype',
    // A property named `then` makes `await` treat an object as a promise; `toJSON` changes `JSON.stringify`.
    'then',
    'toJSON',
  ].map((name) => name.toLowerCase()),
);

const reservedWords: ReadonlyMap<string, string> = new Map([
  ...['system', 'assistant', 'user', 'tool', 'developer'].map((word) => [word, 'a chat role'] as const),
  ...['null', 'undefined', 'true', 'false', 'nan'].map((word) => [word, 'a literal'] as const),
  ...['functions', 'multi_tool_use', 'default_api'].map((word) => [word, "a provider's own namespace"] as const),
  ['parallel', "a provider's own wrapper tool"],
]);

/**
 * The mode of a key over MCP (contract §10), set by `enter-` and `exit-configuration-mode` and by a successful equip. An agent has the
 * configuration tools that its toolset lists, in any mode.
 */
export type ConfigurationMode = 'configuration' | 'normal';

/** Own names, in listing order. Entering or leaving a mode twice has no further effect. */
export function callableIn(mode: ConfigurationMode): readonly string[] {
  return mode === 'configuration' ? configurationTools : ['enter-configuration-mode'];
}

/** By canonical name. These tools return every error themselves, in the format that their `outputSchema` declares. */
export function isConfigurationTool(canonical: string): boolean {
  return canonicals.has(canonical);
}

const canonicals: ReadonlySet<string> = new Set(configurationTools.map((name) => `builtin.${name}`));

/** Built-in servers. Their tools are known, so an unknown name is a mistake and not a server that is down. */
export const reservedServers: ReadonlySet<string> = new Set(['builtin', 'local', 'made', 'client', 'ui']);
