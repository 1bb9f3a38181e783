/**
 * When which of the configuration tools may be called over MCP (DESIGN §10). A key's mode is set by `enter-` and `exit-configuration-mode`,
 * and by a successful equip; it is never toggled. An agent has whichever of them its toolset lists, in any mode. Used by `/mcp`.
 */
import { configurationTools } from '../reserved-names.ts';

export type ConfigurationMode = 'configuration' | 'normal';

/** Own names, in the order in which they are listed. Whoever enters or leaves a mode twice is where it wants to be. */
export function callableIn(mode: ConfigurationMode): readonly string[] {
  return mode === 'configuration' ? configurationTools : ['enter-configuration-mode'];
}

/** By canonical name. They answer for every fault themselves, in the form that their `outputSchema` declares. */
export function isConfigurationTool(canonical: string): boolean {
  return canonicals.has(canonical);
}

const canonicals: ReadonlySet<string> = new Set(configurationTools.map((name) => `builtin.${name}`));
