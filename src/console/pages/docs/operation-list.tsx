import { MethodBadge } from '../../parts/text/method-badge.tsx';
import type { ApiOperation } from './reference.ts';

export function OperationList({ operations }: { operations: readonly ApiOperation[] }) {
  return (
    <ul class="operation-list">
      {operations.map(({ id, method, path, summary }) => (
        <li key={id}>
          <a href={`#operation/${id}`}>
            <MethodBadge method={method} />
            <span class="title">{summary}</span>
            <code>{path}</code>
          </a>
        </li>
      ))}
    </ul>
  );
}
