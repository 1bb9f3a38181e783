/** `/console/made/{name?}`: the list of made tools, or the editor of one. */
import { moniker } from '../../api/moniker.ts';
import { DocumentList } from '../../parts/document-list.tsx';
import type { ViewProps } from '../../router.ts';
import { MadeToolEditor } from './made-editor.tsx';

export function MadePage({ id }: ViewProps) {
  if (id !== null) return <MadeToolEditor key={id} name={id} />;
  return (
    <DocumentList
      view="made"
      title="Made tools"
      about="A made tool is JavaScript that calls other tools. It runs in a sandbox without network and files."
      noun="made tool"
      empty="No made tools yet. Create one: name it, then write its code. Agents that have create_tool make them, too."
      example="find_and_replace"
      load={async (cursor) => {
        const query = { kind: 'made' as const, fields: 'summary' as const, limit: 100, ...(cursor && { cursor }) };
        const { items, nextCursor } = await moniker.value.get('/v1/tools', { params: { query } });
        const shared = items.filter(({ visibility }) => visibility !== 'private');
        return {
          nextCursor,
          items: shared.map(({ name, description, state }) => ({ name, description, facts: state === 'ready' ? '' : state })),
        };
      }}
    />
  );
}
