/*
 * A program that makes system calls, and nothing else: it reads steps from file descriptor 3 and carries them out. It is what Node lacks
 * for walls without bubblewrap, namely prctl(2), unshare(2), mount(2) and seccomp(2). All that is decided is decided by who writes the
 * steps, in TypeScript; the few instructions below are the same for all of them.
 *
 * Each step names a call, its arguments, where its result is written, and the step that comes next if the result is negative, zero or
 * positive. Where no step comes next, the program ends with the status that wait4(2) has left at `STATUS`, as a shell would tell it.
 * Without one, as when not all of the steps arrive, that is 127.
 */

/** Memory at a fixed place, so that steps can name addresses. It is full of zeros at the start. */
const MEMORY = 0x1000_0000;
export const MEMORY_BYTES = 8 * 1024 ** 2;

/** Where the steps come from. */
export const STEPS_DESCRIPTOR = 3;

/** For results that nobody needs, and as a buffer. */
export const SCRATCH = MEMORY + MEMORY_BYTES - 8_192;
/** Where wait4 writes how a process ended. */
export const STATUS = MEMORY + 8;
/** What is read comes here: the addresses of the first step, of where that of the environment is written, and of the end of all. */
export const PROGRAM = MEMORY + 16;

/** A step: the number of the call, five arguments, the address of the result, and the steps that follow a negative, zero and positive one. */
export const STEP = { words: 10, arguments: 1, result: 6, negative: 7, zero: 8, positive: 9 };

/** How a program ends that waited for nobody, in the form of wait4. */
const NEVER_WAITED = 127 << 8;

/** The file of the program. Undefined if there is none for this architecture. */
export function stepMachine(architecture: NodeJS.Architecture): Uint8Array | undefined {
  if (architecture === 'x64') return elfFile(ELF_X64, linked(X64, jumpOfX64));
  if (architecture === 'arm64') return elfFile(ELF_ARM64, linked(ARM64, jumpOfArm64));
  return undefined;
}

/** Machine code. A text is a label, and a pair is a jump: its instruction, and the label that it leads to. */
type Code = readonly (string | readonly number[] | readonly [instruction: number, label: string])[];

const low = (value: number): number[] => [value & 0xff, (value >> 8) & 0xff, (value >> 16) & 0xff, (value >> 24) & 0xff];

const X64: Code = [
  [0x4c, 0x8b, 0x24, 0x24], //                       mov r12, [rsp]            the number of arguments
  [0x4e, 0x8d, 0x64, 0xe4, 0x10], //                 lea r12, [rsp+r12*8+16]   behind them: the environment
  [0xbb, ...low(MEMORY)], //                         mov ebx, MEMORY
  [0xc7, 0x43, 0x08, ...low(NEVER_WAITED)], //       mov dword [rbx+8], NEVER_WAITED
  [0x48, 0x8d, 0x73, 0x10], //                       lea rsi, [rbx+16]         PROGRAM
  'read',
  [0x31, 0xc0], //                                   xor eax, eax              read(2)
  [0xbf, ...low(STEPS_DESCRIPTOR)], //               mov edi, 3
  [0xba, ...low(0x10000)], //                        mov edx, 0x10000
  [0x0f, 0x05], //                                   syscall
  [0x48, 0x85, 0xc0], //                             test rax, rax
  [0x7e, 'have read'], //                            jle have read             the end, or an error
  [0x48, 0x01, 0xc6], //                             add rsi, rax
  [0xeb, 'read'], //                                 jmp read
  'have read',
  [0x48, 0x3b, 0x73, 0x20], //                       cmp rsi, [rbx+32]
  [0x75, 'end'], //                                  jne end                   not all of it
  [0x48, 0x8b, 0x4b, 0x18], //                       mov rcx, [rbx+24]
  [0x4c, 0x89, 0x21], //                             mov [rcx], r12            the environment
  [0x48, 0x8b, 0x5b, 0x10], //                       mov rbx, [rbx+16]         the first step
  'step',
  [0x48, 0x85, 0xdb], //                             test rbx, rbx
  [0x74, 'end'], //                                  jz end
  [0x48, 0x8b, 0x03], //                             mov rax, [rbx]
  [0x48, 0x8b, 0x7b, 0x08], //                       mov rdi, [rbx+8]
  [0x48, 0x8b, 0x73, 0x10], //                       mov rsi, [rbx+16]
  [0x48, 0x8b, 0x53, 0x18], //                       mov rdx, [rbx+24]
  [0x4c, 0x8b, 0x53, 0x20], //                       mov r10, [rbx+32]
  [0x4c, 0x8b, 0x43, 0x28], //                       mov r8, [rbx+40]
  [0x0f, 0x05], //                                   syscall
  [0x48, 0x8b, 0x4b, 0x30], //                       mov rcx, [rbx+48]
  [0x48, 0x89, 0x01], //                             mov [rcx], rax            the result
  [0x48, 0x85, 0xc0], //                             test rax, rax
  [0x78, 'negative'], //                             js negative
  [0x74, 'zero'], //                                 jz zero
  [0x48, 0x8b, 0x5b, 0x48], //                       mov rbx, [rbx+72]
  [0xeb, 'step'], //                                 jmp step
  'negative',
  [0x48, 0x8b, 0x5b, 0x38], //                       mov rbx, [rbx+56]
  [0xeb, 'step'], //                                 jmp step
  'zero',
  [0x48, 0x8b, 0x5b, 0x40], //                       mov rbx, [rbx+64]
  [0xeb, 'step'], //                                 jmp step
  'end',
  [0x8b, 0x04, 0x25, ...low(STATUS)], //             mov eax, [STATUS]
  [0x89, 0xc7], //                                   mov edi, eax
  [0x83, 0xe7, 0x7f], //                             and edi, 0x7f             the signal
  [0x74, 'ended by itself'], //                      jz ended by itself
  [0x81, 0xc7, ...low(128)], //                      add edi, 128
  [0xeb, 'exit'], //                                 jmp exit
  'ended by itself',
  [0x0f, 0xb6, 0xfc], //                             movzx edi, ah             the exit code
  'exit',
  [0xb8, ...low(231)], //                            mov eax, 231              exit_group(2)
  [0x0f, 0x05], //                                   syscall
];

/** A jump of two bytes, the second of which is the distance from its end. */
const jumpOfX64 = (instruction: number, distance: number): number[] => [instruction, (distance - 2) & 0xff];

const ARM64: Code = [
  low(0xf94003f4), //      ldr x20, [sp]             the number of arguments
  low(0x8b346ff4), //      add x20, sp, x20, lsl 3
  low(0x91004294), //      add x20, x20, 16          behind them: the environment
  low(0xd2a20013), //      mov x19, MEMORY
  low(0x528fe000), //      mov w0, NEVER_WAITED
  low(0xb9000a60), //      str w0, [x19, 8]
  low(0x91004261), //      add x1, x19, 16           PROGRAM
  'read',
  low(0xd2800060), //      mov x0, 3
  low(0xd2a00022), //      mov x2, 0x10000
  low(0xd28007e8), //      mov x8, 63                read(2)
  low(0xd4000001), //      svc 0
  low(0xf100001f), //      cmp x0, 0
  [0x5400000d, 'have read'], // b.le have read       the end, or an error
  low(0x8b000021), //      add x1, x1, x0
  [0x14000000, 'read'], // b read
  'have read',
  low(0xf9401269), //      ldr x9, [x19, 32]
  low(0xeb09003f), //      cmp x1, x9
  [0x54000001, 'end'], //  b.ne end                  not all of it
  low(0xf9400e69), //      ldr x9, [x19, 24]
  low(0xf9000134), //      str x20, [x9]             the environment
  low(0xf9400a73), //      ldr x19, [x19, 16]        the first step
  'step',
  [0xb4000013, 'end'], //  cbz x19, end
  low(0xf9400268), //      ldr x8, [x19]
  low(0xa9408660), //      ldp x0, x1, [x19, 8]
  low(0xa9418e62), //      ldp x2, x3, [x19, 24]
  low(0xf9401664), //      ldr x4, [x19, 40]
  low(0xd4000001), //      svc 0
  low(0xf9401a69), //      ldr x9, [x19, 48]
  low(0xf9000120), //      str x0, [x9]              the result
  low(0xf100001f), //      cmp x0, 0
  [0x5400000b, 'negative'], // b.lt negative
  [0x54000000, 'zero'], // b.eq zero
  low(0xf9402673), //      ldr x19, [x19, 72]
  [0x14000000, 'step'], // b step
  'negative',
  low(0xf9401e73), //      ldr x19, [x19, 56]
  [0x14000000, 'step'], // b step
  'zero',
  low(0xf9402273), //      ldr x19, [x19, 64]
  [0x14000000, 'step'], // b step
  'end',
  low(0xd2a20013), //      mov x19, MEMORY
  low(0xb9400a61), //      ldr w1, [x19, 8]
  low(0x72001820), //      ands w0, w1, 0x7f         the signal
  [0x54000000, 'ended by itself'], // b.eq ended by itself
  low(0x11020000), //      add w0, w0, 128
  [0x14000000, 'exit'], // b exit
  'ended by itself',
  low(0x53083c20), //      ubfx w0, w1, 8, 8         the exit code
  'exit',
  low(0xd2800bc8), //      mov x8, 94                exit_group(2)
  low(0xd4000001), //      svc 0
];

/** The distance counts instructions. It has 26 bits in `b`, and 19 from the fifth on in those that ask something. */
function jumpOfArm64(instruction: number, distance: number): number[] {
  const words = distance / 4;
  return low(instruction | (instruction === 0x14000000 ? words & 0x3ffffff : (words & 0x7ffff) << 5));
}

function linked(code: Code, jump: (instruction: number, distance: number) => number[]): number[] {
  const bytesOf = (at: number, labels: ReadonlyMap<string, number>, part: Code[number]): readonly number[] => {
    if (typeof part === 'string') return [];
    const [instruction = 0, label] = part;
    return typeof label === 'string' ? jump(instruction, (labels.get(label) ?? at) - at) : (part as readonly number[]);
  };
  const labels = new Map<string, number>();
  let at = 0;
  for (const part of code) {
    if (typeof part === 'string') labels.set(part, at);
    at += bytesOf(at, labels, part).length;
  }
  const bytes: number[] = [];
  for (const part of code) bytes.push(...bytesOf(bytes.length, labels, part));
  return bytes;
}

/** elf(5): e_machine. */
const ELF_X64 = 62;
const ELF_ARM64 = 183;

const HEADER_BYTES = 64;
const SEGMENT_BYTES = 56;
const CODE_ADDRESS = 0x40_0000;
/** The largest page that arm64 has. */
const PAGE = 0x1_0000;

/** p_type and p_flags. */
const LOAD = 1;
const STACK = 0x6474e551;
const [EXECUTE, WRITE, READ] = [1, 2, 4];

/** A static executable with its code, an empty memory, and a stack that is not executable. */
function elfFile(machine: number, code: readonly number[]): Uint8Array {
  const segments = [
    { type: LOAD, flags: READ | EXECUTE, address: CODE_ADDRESS, inFile: HEADER_BYTES + 3 * SEGMENT_BYTES + code.length },
    { type: LOAD, flags: READ | WRITE, address: MEMORY, inMemory: MEMORY_BYTES },
    { type: STACK, flags: READ | WRITE },
  ];
  const start = HEADER_BYTES + segments.length * SEGMENT_BYTES;
  const file = Buffer.alloc(start);
  // 64 bits, little-endian, version 1; an executable of version 1.
  file.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]);
  file.writeUInt16LE(2, 16);
  file.writeUInt16LE(machine, 18);
  file.writeUInt32LE(1, 20);
  file.writeBigUInt64LE(BigInt(CODE_ADDRESS + start), 24);
  file.writeBigUInt64LE(BigInt(HEADER_BYTES), 32);
  file.writeUInt16LE(HEADER_BYTES, 52);
  file.writeUInt16LE(SEGMENT_BYTES, 54);
  file.writeUInt16LE(segments.length, 56);
  segments.forEach(({ type, flags, address = 0, inFile = 0, inMemory = inFile }, index) => {
    const at = HEADER_BYTES + index * SEGMENT_BYTES;
    file.writeUInt32LE(type, at);
    file.writeUInt32LE(flags, at + 4);
    for (const [offset, value] of [[16, address], [24, address], [32, inFile], [40, inMemory], [48, PAGE]] as const)
      file.writeBigUInt64LE(BigInt(value), at + offset);
  });
  return Buffer.concat([file, Uint8Array.from(code)]);
}
