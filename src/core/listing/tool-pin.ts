/**
 * A tool's pin: the hash of its definition. A different pin means that the definition changed; toolset entries can refer to it (`refId`).
 */
import { canonicalJson, sha256Hex } from '../hash.ts';
import { bareDefinition, type BareDefinition, type ToolDefinition } from '../tools/tool.ts';

/** The pin of a known tool; the stored one if the tool has it. */
export async function toolPin(definition: ToolDefinition): Promise<string> {
  return definition.source?.pin ?? (await definitionPin(definition));
}

/** Returns the SHA-256 of the raw definition. An upstream change of anything that it covers requires a review. */
export async function definitionPin(definition: BareDefinition): Promise<string> {
  return await sha256Hex(canonicalJson(bareDefinition(definition)));
}
