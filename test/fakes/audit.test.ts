import { describe } from 'vitest';
import { auditContract } from '../contracts/audit.ts';
import { fakeAudit } from './audit.ts';

describe('the audit in memory', () => {
  auditContract(async () => fakeAudit(Date.now, 3));
});
