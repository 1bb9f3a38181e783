/** What HTTP uses of the service, as the wiring builds it: one type of each, for middleware and routes. */
import type { ChatDeps } from '../engine/chat/run-chat.ts';
import type { createWiring } from '../wiring/create-wiring.ts';

type Wiring = ReturnType<typeof createWiring>;
type OfRequests = Pick<
  Wiring,
  'settings' | 'clock' | 'ids' | 'log' | 'telemetry' | 'limiter' | 'pools' | 'host' | 'refuseLoop' | 'pageFile'
>;
type OfPeople = Pick<Wiring, 'people' | 'identity' | 'oauth' | 'consents' | 'grants' | 'workspaceOfToken' | 'signInAttempts'>;
type OfDocuments = Pick<Wiring, 'directory' | 'catalog' | 'projects' | 'workspaces' | 'masterKey' | 'backups' | 'sandbox'>;
type OfServers = Pick<Wiring, 'servers' | 'signIns' | 'unwantedPrograms' | 'fetchDocument' | 'mcp' | 'sseRelays' | 'servedNames'>;
type OfWork = Pick<Wiring, 'sessions' | 'planTurn' | 'callTool' | 'dryRunCall' | 'explainCall' | 'prompts' | 'approvalLinks'>;
type OfTriggers = Pick<Wiring, 'triggers' | 'storedWork' | 'hookAttempts' | 'refusals'>;
type OfModels = Pick<
  Wiring,
  | 'proxyChat'
  | 'keptReplies'
  | 'cachedReplies'
  | 'reportUnsent'
  | 'countTokens'
  | 'compactByProvider'
  | 'readStoredResponse'
  | 'passRequest'
  | 'passFiles'
  | 'listPassed'
  | 'models'
>;
type OfRecords = Pick<Wiring, 'audit' | 'usage' | 'replays' | 'readiness'>;

export type HttpServices = OfRequests & OfPeople & OfDocuments & OfServers & OfWork & OfTriggers & OfModels & OfRecords & WithinRequest;
type WithinRequest = Pick<ChatDeps, 'turnWithinRequest'>;
