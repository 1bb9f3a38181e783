/** One service for all tests of a file or a `describe`: its hooks start it and clean up; a restart keeps data and the variable. */
import { afterAll, beforeAll } from 'vitest';
import { makeDataDir, removeDataDir, startService, type RunningService } from './service.ts';

export type SharedService = Omit<RunningService, 'stop'> & {
  /** Kills it as a power cut does and starts it again over the same data; the address may be another. */
  restart(): Promise<void>;
};

/** Call it where hooks may be registered, before the hooks that use the service. `environment`: settings beside the usual. */
export function shareService(environment: Record<string, string> = {}): SharedService {
  const dataDir = makeDataDir();
  let service: RunningService;
  beforeAll(async () => {
    service = await startService(dataDir, environment);
  });
  afterAll(async () => {
    await service.stop();
    removeDataDir(dataDir);
  });
  return {
    get url() {
      return service.url;
    },
    get key() {
      return service.key;
    },
    printed: () => service.printed(),
    call: (...request) => service.call(...request),
    restart: async () => {
      await service.stop('SIGKILL');
      service = await startService(dataDir, environment);
    },
  };
}
