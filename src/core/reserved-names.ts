/**
 * Names that a tool may not take, or had better not: members of every object, the tools that Moniker adds by itself, and
 * words with a meaning of their own to models and providers.
 */

/** Tools that turns add to what a toolset lists (DESIGN §3.4). The own names of built-ins. */
const injectedTools = ['use_skill', 'find_tools', 'fetch_result', 'create_tool', 'run_code'] as const;

/** Over MCP a key's list holds these too (DESIGN §10). */
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

/** Those of them that any turn may be given, whatever its toolset: wire name → canonical name. */
export const injectedNames: ReadonlyMap<string, string> = new Map(injectedTools.map((name) => [name, `builtin.${name}`]));

/**
 * `constructor`, `__proto__` and the like, in any case. Our own tables are Maps; those of clients that make properties out
 * of tool names, and of JSON readers on the way, may not be.
 */
export function isObjectMember(name: string): boolean {
  return objectMembers.has(name.toLowerCase());
}

/** What there is to say against a name that is legal all the same; null for most. */
export function nameWarning(name: string): string | null {
  const meaning = loadedWords.get(name.toLowerCase());
  return meaning === undefined ? null : `"${name}" is ${meaning}; models may trip over it`;
}

const objectMembers: ReadonlySet<string> = new Set(
  [
    ...Object.getOwnPropertyNames(Object.prototype),
    'prototype',
    // Change what an object is to `await` and to `JSON.stringify`.
    'then',
    'toJSON',
  ].map((name) => name.toLowerCase()),
);

const loadedWords: ReadonlyMap<string, string> = new Map([
  ...['system', 'assistant', 'user', 'tool', 'developer'].map((word) => [word, 'a chat role'] as const),
  ...['null', 'undefined', 'true', 'false', 'nan'].map((word) => [word, 'a literal'] as const),
  ...['functions', 'multi_tool_use', 'default_api'].map((word) => [word, "a provider's own namespace"] as const),
  ['parallel', "a provider's own wrapper tool"],
]);
