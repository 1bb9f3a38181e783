/** `/console/connections`: accounts of the user at servers. */
import { Accounts } from './accounts.tsx';

export function ConnectionsPage() {
  return (
    <div class="view wide">
      <h1>Connections</h1>
      <Accounts />
    </div>
  );
}
