import { check, loadKoffi, WindowsError, type Native } from './koffi.ts';

/*
 * A job object of Windows (https://learn.microsoft.com/windows/win32/procthread/job-objects): all processes that a process of it starts are in it, too,
 * whatever they do to leave it.
 */

/** The limits of all processes of a job together. The job process watches them; Windows itself stops only what goes far beyond. */
export interface JobLimits {
  readonly processes: number;
  /** Committed memory. */
  readonly memoryBytes: number;
  readonly cpuTimeMs: number;
}

export interface JobUse {
  readonly processes: number;
  /** The most that was committed at one time. */
  readonly peakMemoryBytes: number;
  /** Of processes that have ended, too. */
  readonly cpuTimeMs: number;
}

/** Information classes and flags of `SetInformationJobObject`, from winnt.h. */
const BASIC_ACCOUNTING = 1;
const EXTENDED_LIMITS = 9;
const ACTIVE_PROCESS = 0x8;
const JOB_TIME = 0x4;
const JOB_MEMORY = 0x200;
const DIE_ON_UNHANDLED_EXCEPTION = 0x400;
const KILL_ON_JOB_CLOSE = 0x2000;

/** Sizes and offsets of JOBOBJECT_EXTENDED_LIMIT_INFORMATION and JOBOBJECT_BASIC_ACCOUNTING_INFORMATION for 64 bits, from winnt.h. */
const LIMITS = { size: 144, jobTime: 8, flags: 16, processes: 40, jobMemory: 120, peakJobMemory: 136 } as const;
const ACCOUNTING = { size: 48, userTime: 0, kernelTime: 8, active: 40 } as const;

/** Windows counts time in steps of 100 ns. */
const TICKS_PER_MS = 10_000;

export class Job {
  readonly #handle: unknown;
  readonly #query: Native;

  /**
   * Puts this process into a new job. Its processes end as soon as this process has ended, for whatever reason: the handle is closed then, and
   * there is no other. @throws WindowsError
   */
  constructor({ processes, memoryBytes, cpuTimeMs }: JobLimits) {
    const kernel = loadKoffi().load('kernel32.dll');
    const create = kernel.func('void *__stdcall CreateJobObjectW(void *attributes, const char16_t *name)');
    const set = kernel.func('int __stdcall SetInformationJobObject(void *job, int kind, void *information, uint32_t size)');
    const assign = kernel.func('int __stdcall AssignProcessToJobObject(void *job, void *process)');
    const current = kernel.func('void *__stdcall GetCurrentProcess()');
    this.#query = kernel.func('int __stdcall QueryInformationJobObject(void *job, int kind, _Out_ uint8_t *information, uint32_t size, void *written)');
    this.#handle = create(null, null);
    check('CreateJobObject', this.#handle, kernel);
    const limits = Buffer.alloc(LIMITS.size);
    limits.writeUInt32LE(KILL_ON_JOB_CLOSE | ACTIVE_PROCESS | JOB_MEMORY | JOB_TIME | DIE_ON_UNHANDLED_EXCEPTION, LIMITS.flags);
    // Twice as much, so that whoever watches sees that a limit is exceeded, and a burst between two looks stays bounded.
    limits.writeBigInt64LE(BigInt(Math.ceil(2 * cpuTimeMs)) * BigInt(TICKS_PER_MS), LIMITS.jobTime);
    limits.writeUInt32LE(Math.min(2 * processes, 0xffff_ffff), LIMITS.processes);
    limits.writeBigUInt64LE(BigInt(Math.ceil(2 * memoryBytes)), LIMITS.jobMemory);
    check('SetInformationJobObject', set(this.#handle, EXTENDED_LIMITS, limits, LIMITS.size), kernel);
    check('AssignProcessToJobObject', assign(this.#handle, current()), kernel);
  }

  /** What the job has used until now, this process included. @throws WindowsError */
  use(): JobUse {
    const limits = Buffer.alloc(LIMITS.size);
    const accounting = Buffer.alloc(ACCOUNTING.size);
    const isKnown = this.#query(this.#handle, EXTENDED_LIMITS, limits, LIMITS.size, null) && this.#query(this.#handle, BASIC_ACCOUNTING, accounting, ACCOUNTING.size, null);
    if (!isKnown) throw new WindowsError('QueryInformationJobObject failed.');
    return {
      processes: accounting.readUInt32LE(ACCOUNTING.active),
      peakMemoryBytes: Number(limits.readBigUInt64LE(LIMITS.peakJobMemory)),
      cpuTimeMs: Number(accounting.readBigInt64LE(ACCOUNTING.userTime) + accounting.readBigInt64LE(ACCOUNTING.kernelTime)) / TICKS_PER_MS,
    };
  }
}
