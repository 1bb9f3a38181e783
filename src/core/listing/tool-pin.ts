/** A tool's pin: the hash of its definition, by which a change is noticed and by which it may be named (`refId`). */
import { canonicalJson, sha256Hex } from '../hash.ts';
import { bareDefinition, type BareDefinition, type ToolDefinition } from '../tool.ts';

/** Of a known tool; what its source has found already is not found again. */
export async function pinOf(definition: ToolDefinition): Promise<string> {
  return definition.source?.pin ?? (await definitionPin(definition));
}

/** SHA-256 over the raw definition: what an upstream may not change without somebody looking. */
export async function definitionPin(definition: BareDefinition): Promise<string> {
  return await sha256Hex(canonicalJson(bareDefinition(definition)));
}
