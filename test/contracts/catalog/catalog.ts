/** The contract of every Catalog with its Directory, one suite for each concept. */
import { agentsContract } from './agents.ts';
import { documentsContract } from './documents.ts';
import { equipmentContract } from './equipment.ts';
import { keysContract } from './keys.ts';
import { policyContract } from './policy.ts';
import { providersContract } from './providers.ts';
import { secretsContract } from './secrets.ts';
import { selfListingServersContract } from './self-listing-servers.ts';
import { serversContract } from './servers.ts';
import { sessionsContract } from './sessions.ts';
import { skillsContract } from './skills.ts';
import { toolsContract } from './tools.ts';
import { toolsetsContract } from './toolsets.ts';
import type { MakeWorkspace } from './workspace.ts';

export function catalogContract(make: MakeWorkspace): void {
  documentsContract(make);
  toolsetsContract(make);
  toolsContract(make);
  serversContract(make);
  agentsContract(make);
  skillsContract(make);
  providersContract(make);
  policyContract(make);
  secretsContract(make);
  equipmentContract(make);
  keysContract(make);
  sessionsContract(make);
  selfListingServersContract(make);
}
