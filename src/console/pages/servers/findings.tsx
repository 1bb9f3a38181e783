/** The findings in a definition that a server lists. */
import type { components } from '../../../../client/src/index.ts';
import { visible } from '../../parts/text/visible.ts';

type Finding = components['schemas']['Finding'];

export function Findings({ findings }: { findings: readonly Finding[] }) {
  if (findings.length === 0) return null;
  return (
    <ul class="findings">
      {findings.map(({ finding, path, message }) => (
        <li key={`${finding} ${path} ${message}`}>
          <span class="badge bad">{visible(finding)}</span> <code>{visible(path)}</code> {visible(message)}
        </li>
      ))}
    </ul>
  );
}
