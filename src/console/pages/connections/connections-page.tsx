/** `/console/connections/{apps?}`: accounts of the user at servers, and apps that act for the user. */
import type { ViewProps } from '../../router.ts';
import { ViewParts } from '../../parts/layout/view-parts.tsx';
import { Accounts } from './accounts.tsx';
import { Apps } from './apps.tsx';

const parts = [
  { id: null, title: 'Accounts at servers', Content: Accounts },
  { id: 'apps', title: 'Apps', Content: Apps },
];

export function ConnectionsPage({ id }: ViewProps) {
  return <ViewParts id={id} view="connections" title="Connections" parts={parts} />;
}
