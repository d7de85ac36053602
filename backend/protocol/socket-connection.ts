import {
  AbstractMessageReader, AbstractMessageWriter,
  type DataCallback, type Disposable, type Message, type MessageReader, type MessageWriter,
} from 'vscode-jsonrpc';
import * as z from 'zod';
import { RPC_CODES } from './request-error.ts';

/*
 * vscode-jsonrpc over a WebSocket, with one message in each text frame. Incoming messages are checked before the library sees them, because
 * the library trusts its peer: a cancellation without parameters throws inside its reader.
 */

/** The part of a `ws` WebSocket that is used. Declared here, so that the protocol needs neither `ws` nor Node. */
export interface MessageSocket {
  readonly bufferedAmount: number;
  send(text: string, sent: (error?: Error | null) => void): void;
  close(code: number, reason: string): void;
  terminate(): void;
  on(event: 'message', listener: (data: { toString(): string }, isBinary: boolean) => void): unknown;
  on(event: 'close', listener: (code: number, reason: { toString(): string }) => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
}

/** Close codes of RFC 6455 that are used on purpose. */
export const CLOSE_CODES = { normal: 1000, goingAway: 1001, refusedData: 1003, policy: 1008, tooLarge: 1009 } as const;

/** RFC 6455 allows 123 bytes for a close reason; `ws` throws on more. */
export function closeReason(sentence: string): string {
  const bytes = new TextEncoder().encode(sentence);
  return bytes.length <= 123 ? sentence : new TextDecoder().decode(bytes.subarray(0, 120)).replace(/�+$/, '') + '…';
}

const id = z.union([z.number(), z.string().max(200)]);
const params = z.looseObject({}).optional();
const jsonrpc = z.literal('2.0');
const messageSchema = z.union([
  z.object({ jsonrpc, id, method: z.string().max(200), params }),
  z.object({ jsonrpc, id: id.nullable(), result: z.unknown().refine((value) => value !== undefined) }),
  z.object({ jsonrpc, id: id.nullable(), error: z.object({ code: z.number(), message: z.string(), data: z.unknown() }) }),
  z.strictObject({ jsonrpc, method: z.literal('$/cancelRequest'), params: z.object({ id }) }),
  z.strictObject({ jsonrpc, method: z.string().max(200).regex(/^[^$]/), params }),
]);

export class SocketReader extends AbstractMessageReader implements MessageReader {
  readonly #socket: MessageSocket;

  constructor(socket: MessageSocket) {
    super();
    this.#socket = socket;
  }

  listen(callback: DataCallback): Disposable {
    let listening = true;
    this.#socket.on('message', (data, isBinary) => {
      if (!listening) return;
      if (isBinary) {
        this.#socket.close(CLOSE_CODES.refusedData, 'Binary frames are refused: send one JSON-RPC message a text frame.');
        return;
      }
      const message = this.#parse(data.toString());
      if (message) callback(message);
    });
    this.#socket.on('close', () => this.fireClose());
    return { dispose: () => { listening = false; } };
  }

  #parse(text: string): Message | undefined {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      this.#refuse(RPC_CODES.parseError, 'parse-error', 'The message is not JSON: send one JSON-RPC 2.0 object a text frame.');
      return undefined;
    }
    const parsed = messageSchema.safeParse(value);
    if (parsed.success) return parsed.data;
    this.#refuse(
      RPC_CODES.invalidRequest, 'invalid-request',
      'The message is JSON but not a JSON-RPC 2.0 request, notification or response with named parameters.',
    );
    return undefined;
  }

  /** The id is null, as JSON-RPC requires when the message's id is unknown. */
  #refuse(code: number, kind: string, message: string): void {
    this.#socket.send(JSON.stringify({ jsonrpc: '2.0', id: null, error: { code, message, data: { kind } } }), () => undefined);
  }
}

export interface SocketLimits {
  /** Larger messages are not sent, because the peer would close the connection. */
  readonly maxMessageBytes: number;
  /** More unsent bytes mean that the peer has stopped reading. The connection is then closed to bound memory. */
  readonly maxBufferedBytes: number;
}

export class SocketWriter extends AbstractMessageWriter implements MessageWriter {
  readonly #socket: MessageSocket;
  readonly #limits: SocketLimits;

  constructor(socket: MessageSocket, limits: SocketLimits) {
    super();
    this.#socket = socket;
    this.#limits = limits;
  }

  /** Passes the frame to the socket synchronously, so calls keep their order on the wire. */
  async write(message: Message): Promise<void> {
    const text = JSON.stringify(message);
    const { maxMessageBytes, maxBufferedBytes } = this.#limits;
    // A UTF-16 unit takes at most three bytes in UTF-8, so most messages need no exact count.
    if (text.length * 3 > maxMessageBytes && new TextEncoder().encode(text).length > maxMessageBytes) {
      throw new Error(`The message is larger than ${Math.floor(maxMessageBytes / 1024)} KiB and was not sent: make it smaller.`);
    }
    const sent = new Promise<void>((resolve, reject) => {
      this.#socket.send(text, (error) => (error ? reject(error) : resolve()));
    });
    if (this.#socket.bufferedAmount > maxBufferedBytes) this.#socket.terminate();
    await sent;
  }

  end(): void {}
}
