import { createMemoryFiles } from '../../../src/storage/files/memory-files.ts';
import { fileSystemContract } from '../../contracts/file-system.ts';

fileSystemContract('memory', createMemoryFiles);
