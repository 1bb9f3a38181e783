/**
 * Which configuration tools may be called over MCP, and when (contract §10). The mode of a key is set by `enter-` and
 * `exit-configuration-mode` and by a successful equip; it is never toggled. An agent has the configuration tools that its toolset
 * lists, in any mode. Used by `/mcp`.
 */
import { configurationTools } from '../names/reserved-names.ts';

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
