/** Writes a JSON value as YAML that `read-yaml.ts` reads as the same value. */
import { CORE_SCHEMA, dump } from 'js-yaml';

export function writeYaml(value: unknown): string {
  return dump(value, { schema: CORE_SCHEMA, lineWidth: 120, noRefs: true });
}
