import { Prose } from '../../parts/prose.tsx';
import { OperationList } from './operation-list.tsx';
import type { ApiTag } from './reference.ts';

export function TagPage({ tag: { name, description, operations } }: { tag: ApiTag }) {
  return (
    <article class="narrow">
      <h1>{name}</h1>
      <Prose text={description} />
      <OperationList operations={operations} />
    </article>
  );
}
