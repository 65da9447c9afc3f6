// Every error that a broker can answer, as of Apache Kafka 4.4: number, name, retriable, what a client does about it, and why.
// One table for both sides; check:protocol compares numbers, names and retriable with Kafka's own.
import { AuthorizationError, FencedError, KafkaError } from '../../errors.js'

/**
 * What a client does about an error:
 * - `none`: nothing; what was asked for is so
 * - `fail`: tell the caller; trying again changes nothing
 * - `retry`: ask the same broker again after a backoff
 * - `refreshMetadata`: the cluster is not as we think; refresh the metadata, then ask whoever leads now
 * - `findCoordinator`: the same for a coordinator
 * - `rebootstrap`: forget the cluster and begin with the bootstrap servers (KIP-1102)
 * - `rejoin`: enter the group again
 * - `resetOffset`: the position is not in the log; apply the reset policy
 * - `resetSession`: open a new fetch or share session
 * - `resetProducer`: the broker does not know the sequence; get a new producer id or epoch
 * - `abortTransaction`: the transaction cannot be committed any more, the producer lives on
 * - `splitBatch`: send the records in smaller batches
 * - `fenced`: another has taken over this one's identity; stop for good
 * - `denied`: not authorized; stop until somebody changes the rights
 */
export type Reaction =
  | 'none'
  | 'fail'
  | 'retry'
  | 'refreshMetadata'
  | 'findCoordinator'
  | 'rebootstrap'
  | 'rejoin'
  | 'resetOffset'
  | 'resetSession'
  | 'resetProducer'
  | 'abortTransaction'
  | 'splitBatch'
  | 'fenced'
  | 'denied'

type Row = readonly [code: number, name: string, retriable: boolean, reaction: Reaction, message: string]

const yes = true
const no = false

const table = [
  [-1, 'UNKNOWN_SERVER_ERROR', no, 'fail', 'the broker failed in a way it has no code for; see its log'],
  [0, 'NONE', no, 'none', 'no error'],
  [1, 'OFFSET_OUT_OF_RANGE', no, 'resetOffset', 'the log of this partition does not hold the offset'],
  [2, 'CORRUPT_MESSAGE', yes, 'retry', 'the batch does not match its checksum, or is otherwise broken'],
  [3, 'UNKNOWN_TOPIC_OR_PARTITION', yes, 'refreshMetadata', 'the broker does not have this topic or partition'],
  [4, 'INVALID_FETCH_SIZE', no, 'fail', 'the fetch size is not allowed'],
  [5, 'LEADER_NOT_AVAILABLE', yes, 'refreshMetadata', 'the partition has no leader at the moment'],
  [
    6,
    'NOT_LEADER_OR_FOLLOWER',
    yes,
    'refreshMetadata',
    'this broker is not the leader (or a replica) of the partition',
  ],
  [7, 'REQUEST_TIMED_OUT', yes, 'retry', 'the broker could not finish within the time the request gave it'],
  [8, 'BROKER_NOT_AVAILABLE', no, 'fail', 'the broker is not available'],
  [9, 'REPLICA_NOT_AVAILABLE', yes, 'refreshMetadata', 'the replica is not available on this broker'],
  [10, 'MESSAGE_TOO_LARGE', no, 'splitBatch', 'the batch is larger than the topic allows (max.message.bytes)'],
  [11, 'STALE_CONTROLLER_EPOCH', no, 'fail', 'the controller has moved to another broker'],
  [12, 'OFFSET_METADATA_TOO_LARGE', no, 'fail', 'the metadata text of a committed offset is too long'],
  [13, 'NETWORK_EXCEPTION', yes, 'refreshMetadata', 'the broker lost a connection before an answer came'],
  [14, 'COORDINATOR_LOAD_IN_PROGRESS', yes, 'retry', 'the coordinator is still loading its state'],
  [15, 'COORDINATOR_NOT_AVAILABLE', yes, 'findCoordinator', 'no coordinator is available yet'],
  [16, 'NOT_COORDINATOR', yes, 'findCoordinator', 'this broker is not the coordinator'],
  [17, 'INVALID_TOPIC_EXCEPTION', no, 'fail', 'the topic name is not legal, or the topic is internal'],
  [18, 'RECORD_LIST_TOO_LARGE', no, 'fail', 'the batch is larger than a log segment may be (segment.bytes)'],
  [19, 'NOT_ENOUGH_REPLICAS', yes, 'retry', 'fewer replicas are in sync than min.insync.replicas asks for'],
  [
    20,
    'NOT_ENOUGH_REPLICAS_AFTER_APPEND',
    yes,
    'retry',
    'the records are written, but to fewer replicas than min.insync.replicas asks for',
  ],
  [21, 'INVALID_REQUIRED_ACKS', no, 'fail', 'acks must be -1, 0 or 1'],
  [22, 'ILLEGAL_GENERATION', no, 'rejoin', 'the group has moved on to another generation'],
  [
    23,
    'INCONSISTENT_GROUP_PROTOCOL',
    no,
    'fail',
    'the members of the group have no protocol type or assignor in common',
  ],
  [24, 'INVALID_GROUP_ID', no, 'fail', 'the group id is not legal'],
  [25, 'UNKNOWN_MEMBER_ID', no, 'rejoin', 'the coordinator does not know this member'],
  [26, 'INVALID_SESSION_TIMEOUT', no, 'fail', 'the session timeout is outside the range the broker allows'],
  [27, 'REBALANCE_IN_PROGRESS', no, 'rejoin', 'the group is rebalancing'],
  [28, 'INVALID_COMMIT_OFFSET_SIZE', no, 'fail', 'the commit is larger than the broker can store'],
  [29, 'TOPIC_AUTHORIZATION_FAILED', no, 'denied', 'not authorized for the topic'],
  [30, 'GROUP_AUTHORIZATION_FAILED', no, 'denied', 'not authorized for the group'],
  [31, 'CLUSTER_AUTHORIZATION_FAILED', no, 'denied', 'not authorized for this operation on the cluster'],
  [32, 'INVALID_TIMESTAMP', no, 'fail', "a record's timestamp is too far from the broker's time"],
  [33, 'UNSUPPORTED_SASL_MECHANISM', no, 'fail', 'the broker does not offer this SASL mechanism'],
  [34, 'ILLEGAL_SASL_STATE', no, 'fail', 'the request does not fit the state of authentication'],
  [
    35,
    'UNSUPPORTED_VERSION',
    no,
    'fail',
    'the broker does not support this version of the request, or a feature of it',
  ],
  [36, 'TOPIC_ALREADY_EXISTS', no, 'fail', 'a topic of this name exists'],
  [37, 'INVALID_PARTITIONS', no, 'fail', 'the number of partitions is not allowed'],
  [38, 'INVALID_REPLICATION_FACTOR', no, 'fail', 'the replication factor is below 1 or above the number of brokers'],
  [39, 'INVALID_REPLICA_ASSIGNMENT', no, 'fail', 'the replica assignment is not legal'],
  [40, 'INVALID_CONFIG', no, 'fail', 'a config name or value is not legal'],
  [41, 'NOT_CONTROLLER', yes, 'refreshMetadata', 'this broker is not the controller'],
  [42, 'INVALID_REQUEST', no, 'fail', 'the broker finds the request malformed or contradictory'],
  [43, 'UNSUPPORTED_FOR_MESSAGE_FORMAT', no, 'fail', 'the message format of the topic does not support this'],
  [44, 'POLICY_VIOLATION', no, 'fail', 'a policy of the cluster forbids it'],
  [45, 'OUT_OF_ORDER_SEQUENCE_NUMBER', no, 'resetProducer', "the batch does not follow the producer's last one"],
  [46, 'DUPLICATE_SEQUENCE_NUMBER', no, 'none', 'the broker has this batch already'],
  [47, 'INVALID_PRODUCER_EPOCH', no, 'fenced', 'a newer producer has taken over this producer id'],
  [48, 'INVALID_TXN_STATE', no, 'fail', 'the transaction is not in a state that allows this'],
  [49, 'INVALID_PRODUCER_ID_MAPPING', no, 'resetProducer', 'the transactional id belongs to another producer id now'],
  [50, 'INVALID_TRANSACTION_TIMEOUT', no, 'fail', 'the transaction timeout is larger than the broker allows'],
  [51, 'CONCURRENT_TRANSACTIONS', yes, 'retry', 'the last transaction of this transactional id is not finished yet'],
  [
    52,
    'TRANSACTION_COORDINATOR_FENCED',
    no,
    'fenced',
    'the transaction coordinator that sent this is no longer in charge',
  ],
  [53, 'TRANSACTIONAL_ID_AUTHORIZATION_FAILED', no, 'denied', 'not authorized for the transactional id'],
  [54, 'SECURITY_DISABLED', no, 'fail', 'the cluster has no authorizer'],
  [55, 'OPERATION_NOT_ATTEMPTED', no, 'fail', 'not tried, because another part of the request failed'],
  [56, 'KAFKA_STORAGE_ERROR', yes, 'refreshMetadata', 'the disk under this partition failed'],
  [57, 'LOG_DIR_NOT_FOUND', no, 'fail', 'the broker has no such log directory'],
  [58, 'SASL_AUTHENTICATION_FAILED', no, 'fail', 'the credentials were not accepted'],
  [59, 'UNKNOWN_PRODUCER_ID', no, 'resetProducer', 'the broker holds no state of this producer id'],
  [60, 'REASSIGNMENT_IN_PROGRESS', no, 'fail', 'the partition is being reassigned'],
  [61, 'DELEGATION_TOKEN_AUTH_DISABLED', no, 'fail', 'delegation tokens are not enabled'],
  [62, 'DELEGATION_TOKEN_NOT_FOUND', no, 'fail', 'no such delegation token'],
  [63, 'DELEGATION_TOKEN_OWNER_MISMATCH', no, 'fail', 'the delegation token is not for this principal'],
  [64, 'DELEGATION_TOKEN_REQUEST_NOT_ALLOWED', no, 'fail', 'tokens cannot be managed over this kind of connection'],
  [65, 'DELEGATION_TOKEN_AUTHORIZATION_FAILED', no, 'denied', 'not authorized for the delegation token'],
  [66, 'DELEGATION_TOKEN_EXPIRED', no, 'fail', 'the delegation token has expired'],
  [67, 'INVALID_PRINCIPAL_TYPE', no, 'fail', 'this type of principal is not supported'],
  [68, 'NON_EMPTY_GROUP', no, 'fail', 'the group still has members'],
  [69, 'GROUP_ID_NOT_FOUND', no, 'fail', 'no such group'],
  [70, 'FETCH_SESSION_ID_NOT_FOUND', yes, 'resetSession', 'the broker has dropped the fetch session'],
  [71, 'INVALID_FETCH_SESSION_EPOCH', yes, 'resetSession', 'the fetch session is at another epoch'],
  [
    72,
    'LISTENER_NOT_FOUND',
    yes,
    'refreshMetadata',
    'the leader has no listener of the name this broker was reached by',
  ],
  [73, 'TOPIC_DELETION_DISABLED', no, 'fail', 'the cluster does not allow deleting topics (delete.topic.enable)'],
  [74, 'FENCED_LEADER_EPOCH', yes, 'refreshMetadata', 'the leader epoch sent is older than the current one'],
  [75, 'UNKNOWN_LEADER_EPOCH', yes, 'retry', 'the leader epoch sent is newer than what this broker knows of'],
  [
    76,
    'UNSUPPORTED_COMPRESSION_TYPE',
    no,
    'fail',
    'this version of the request does not allow the compression of the batch',
  ],
  [77, 'STALE_BROKER_EPOCH', no, 'fail', 'the broker has registered again since'],
  [78, 'OFFSET_NOT_AVAILABLE', yes, 'retry', 'the new leader cannot tell the offset yet'],
  [79, 'MEMBER_ID_REQUIRED', no, 'rejoin', 'join again with the member id the coordinator has just given'],
  [80, 'PREFERRED_LEADER_NOT_AVAILABLE', yes, 'refreshMetadata', 'the preferred leader is not available'],
  [81, 'GROUP_MAX_SIZE_REACHED', no, 'fail', 'the group has as many members as the broker allows (group.max.size)'],
  [82, 'FENCED_INSTANCE_ID', no, 'fenced', 'another member has joined with the same group instance id'],
  [83, 'ELIGIBLE_LEADERS_NOT_AVAILABLE', yes, 'refreshMetadata', 'no replica that may lead is available'],
  [84, 'ELECTION_NOT_NEEDED', yes, 'refreshMetadata', 'the partition has the leader it should have'],
  [85, 'NO_REASSIGNMENT_IN_PROGRESS', no, 'fail', 'the partition is not being reassigned'],
  [86, 'GROUP_SUBSCRIBED_TO_TOPIC', no, 'fail', 'the group is subscribed to the topic'],
  [87, 'INVALID_RECORD', no, 'fail', 'the broker refuses a record (in a compacted topic, one without a key)'],
  [88, 'UNSTABLE_OFFSET_COMMIT', yes, 'retry', 'a running transaction may still change the committed offset'],
  [89, 'THROTTLING_QUOTA_EXCEEDED', yes, 'retry', 'a quota of the cluster is used up for the moment'],
  [90, 'PRODUCER_FENCED', no, 'fenced', 'a newer producer has taken over this transactional id'],
  [91, 'RESOURCE_NOT_FOUND', no, 'fail', 'no such resource'],
  [92, 'DUPLICATE_RESOURCE', no, 'fail', 'the resource exists, or is named twice'],
  [93, 'UNACCEPTABLE_CREDENTIAL', no, 'fail', 'the new credential is not acceptable'],
  [94, 'INCONSISTENT_VOTER_SET', no, 'fail', "the voters named are not the quorum's"],
  [95, 'INVALID_UPDATE_VERSION', no, 'fail', 'the version of the update is not the one expected'],
  [96, 'FEATURE_UPDATE_FAILED', no, 'fail', 'the feature could not be updated'],
  [97, 'PRINCIPAL_DESERIALIZATION_FAILURE', no, 'fail', 'the forwarded principal cannot be read'],
  [98, 'SNAPSHOT_NOT_FOUND', no, 'fail', 'no such snapshot'],
  [99, 'POSITION_OUT_OF_RANGE', no, 'fail', 'the position is outside the snapshot'],
  [100, 'UNKNOWN_TOPIC_ID', yes, 'refreshMetadata', 'the broker knows no topic of this id'],
  [101, 'DUPLICATE_BROKER_REGISTRATION', no, 'fail', 'a broker of this id is registered already'],
  [102, 'BROKER_ID_NOT_REGISTERED', no, 'fail', 'no broker of this id is registered'],
  [103, 'INCONSISTENT_TOPIC_ID', yes, 'refreshMetadata', 'the topic id of the request is not that of the log'],
  [104, 'INCONSISTENT_CLUSTER_ID', no, 'fail', 'this is another cluster than the one named'],
  [105, 'TRANSACTIONAL_ID_NOT_FOUND', no, 'fail', 'no such transactional id'],
  [106, 'FETCH_SESSION_TOPIC_ID_ERROR', yes, 'resetSession', 'the fetch session mixes topic names and topic ids'],
  [107, 'INELIGIBLE_REPLICA', no, 'fail', 'the replica may not enter the in-sync set'],
  [108, 'NEW_LEADER_ELECTED', no, 'fail', 'the change made another replica the leader'],
  [109, 'OFFSET_MOVED_TO_TIERED_STORAGE', no, 'fail', 'the offset is in remote storage'],
  [110, 'FENCED_MEMBER_EPOCH', no, 'rejoin', 'the coordinator has removed this member'],
  [111, 'UNRELEASED_INSTANCE_ID', no, 'retry', 'a live member holds this group instance id'],
  [112, 'UNSUPPORTED_ASSIGNOR', no, 'fail', 'the coordinator does not have the assignor asked for'],
  [113, 'STALE_MEMBER_EPOCH', no, 'retry', "the member's epoch is behind the coordinator's"],
  [114, 'MISMATCHED_ENDPOINT_TYPE', no, 'fail', 'a request for brokers went to a controller, or the other way round'],
  [115, 'UNSUPPORTED_ENDPOINT_TYPE', no, 'fail', 'this type of endpoint is not known'],
  [116, 'UNKNOWN_CONTROLLER_ID', no, 'fail', 'no controller of this id'],
  [117, 'UNKNOWN_SUBSCRIPTION_ID', no, 'fail', 'the subscription of client metrics has changed'],
  [118, 'TELEMETRY_TOO_LARGE', no, 'fail', 'the client metrics are larger than the broker takes'],
  [119, 'INVALID_REGISTRATION', no, 'fail', 'the registration was refused'],
  [120, 'TRANSACTION_ABORTABLE', no, 'abortTransaction', 'the transaction has to be aborted'],
  [121, 'INVALID_RECORD_STATE', no, 'fail', 'the record is not in a state that allows this acknowledgement'],
  [122, 'SHARE_SESSION_NOT_FOUND', yes, 'resetSession', 'the broker has dropped the share session'],
  [123, 'INVALID_SHARE_SESSION_EPOCH', yes, 'resetSession', 'the share session is at another epoch'],
  [124, 'FENCED_STATE_EPOCH', no, 'fail', 'the share-group state has a newer epoch'],
  [125, 'INVALID_VOTER_KEY', no, 'fail', 'the voter key is not the one of this controller'],
  [126, 'DUPLICATE_VOTER', no, 'fail', 'the voter is in the quorum already'],
  [127, 'VOTER_NOT_FOUND', no, 'fail', 'the voter is not in the quorum'],
  [128, 'INVALID_REGULAR_EXPRESSION', no, 'fail', 'the regular expression cannot be compiled'],
  [129, 'REBOOTSTRAP_REQUIRED', no, 'rebootstrap', 'the broker asks the client to find the cluster anew'],
  [130, 'STREAMS_INVALID_TOPOLOGY', no, 'fail', 'the streams topology is not legal'],
  [131, 'STREAMS_INVALID_TOPOLOGY_EPOCH', no, 'fail', 'the epoch of the streams topology is not legal'],
  [132, 'STREAMS_TOPOLOGY_FENCED', no, 'fail', 'the streams topology has a newer epoch'],
  [133, 'SHARE_SESSION_LIMIT_REACHED', yes, 'retry', 'the broker holds as many share sessions as it may'],
  [134, 'GROUP_DELETION_FAILED', no, 'fail', 'the group could not be deleted'],
  [
    135,
    'STREAMS_TOPOLOGY_DESCRIPTION_UPDATE_FAILED',
    no,
    'fail',
    'the description of the streams topology was not stored',
  ],
  [136, 'CONTROLLER_ID_NOT_REGISTERED', no, 'fail', 'no controller of this id is registered'],
] as const satisfies readonly Row[]

/** Kafka's own name of an error: `NOT_LEADER_OR_FOLLOWER` and so on. */
export type ErrorName = (typeof table)[number][1]

export interface ProtocolError {
  readonly code: number
  readonly name: ErrorName
  readonly retriable: boolean
  readonly reaction: Reaction
  /** Why, in one line without a full stop. */
  readonly message: string
}

const byCode = new Map<number, ProtocolError>()
const byName = new Map<string, ProtocolError>()
for (const [code, name, retriable, reaction, message] of table) {
  const error: ProtocolError = { code, name, retriable, reaction, message }
  byCode.set(code, error)
  byName.set(name, error)
}

/** Every error, by its number in ascending order. */
export const protocolErrors: readonly ProtocolError[] = [...byCode.values()]

/** The number of each error by its name. */
export const errorCodes = Object.fromEntries(protocolErrors.map((e) => [e.name, e.code])) as Readonly<
  Record<ErrorName, number>
>

/** A number this table does not have (a newer broker's) is UNKNOWN_SERVER_ERROR, as in the Java client. */
export function errorByCode(code: number): ProtocolError {
  return byCode.get(code) ?? byCode.get(-1)!
}

export function errorByName(name: ErrorName): ProtocolError
export function errorByName(name: string): ProtocolError | undefined
export function errorByName(name: string): ProtocolError | undefined {
  return byName.get(name)
}

export interface ErrorContext {
  /** What was tried, as the start of a sentence: `Fetch`, `commit of group billing`. */
  readonly what: string
  readonly topic?: string | undefined
  readonly partition?: number | undefined
  /** Who answered: a node id or `host:port`. */
  readonly broker?: number | string | undefined
  /** The text that came with the error. */
  readonly brokerMessage?: string | null | undefined
  readonly cause?: unknown
}

/** The error to throw for what a broker answered. */
export function toKafkaError(code: number, context: ErrorContext): KafkaError {
  const { name, retriable, reaction, message } = errorByCode(code)
  const { what, topic, partition, broker, brokerMessage, cause } = context
  const unknown = byCode.has(code) ? '' : ` (code ${code}, which is not known here)`
  const where =
    topic === undefined ? '' : partition === undefined ? ` for topic ${topic}` : ` for ${topic}-${partition}`
  const who = broker === undefined ? '' : ` on broker ${broker}`
  const said = brokerMessage ? `; the broker says: ${brokerMessage}` : ''
  const text = `${what} failed${where}${who}: ${name}${unknown}: ${message}${said}`
  const details = { code: name, retriable, cause }
  if (reaction === 'denied') return new AuthorizationError(text, details)
  if (reaction === 'fenced') return new FencedError(text, details)
  return new KafkaError(text, details)
}
