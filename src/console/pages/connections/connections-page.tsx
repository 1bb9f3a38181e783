/** `/console/connections/{apps?}`: accounts of the user at servers, and apps that act for the user. */
import type { ViewProps } from '../../router.ts';
import { ViewTabs } from '../../parts/view-tabs.tsx';
import { Accounts } from './accounts.tsx';
import { Apps } from './apps.tsx';

const tabs = [
  { id: null, title: 'Accounts at servers' },
  { id: 'apps', title: 'Apps' },
] as const;

export function ConnectionsPage({ id }: ViewProps) {
  return (
    <div class="view wide">
      <div class="head">
        <h1>Connections</h1>
        <ViewTabs label="Connections" view="connections" current={id === 'apps' ? 'apps' : null} tabs={tabs} />
      </div>
      {id === 'apps' ? <Apps /> : <Accounts />}
    </div>
  );
}
