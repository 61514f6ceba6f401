<?php
// A stand-in for FOSSBilling as its module of hosting services behaves: what a manager is given, and what becomes of it.
// test/integrations/real-platforms.test.ts holds it against FOSSBilling itself.
require __DIR__ . '/hold.php';

const SYSTEM_URL = 'https://billing.example/';

class Server_Exception extends Exception
{
}

/** A record with get and set methods for its fields; those that nobody set are null. */
abstract class Fields
{
    protected const FIELDS = [];
    protected array $fields = [];
    public function __call(string $name, array $given): mixed
    {
        $field = lcfirst(substr($name, 3));
        hold(in_array($field, static::FIELDS, true), static::class . " has a method $name");
        if (str_starts_with($name, 'get')) {
            return $this->fields[$field] ?? null;
        }
        $this->fields[$field] = $given[0];
        return $this;
    }
}
/** It has a method for an id, which FOSSBilling does not set. */
final class Server_Client extends Fields
{
    protected const FIELDS = ['id', 'email', 'fullName', 'company'];
}
final class Server_Package
{
    public function __construct(private array $custom)
    {
    }
    public function getCustomValue(string $name): ?string
    {
        return $this->custom[$name] ?? null;
    }
}
final class Server_Account extends Fields
{
    protected const FIELDS = ['client', 'package', 'username', 'password', 'domain', 'ip', 'suspended', 'note', 'reseller'];
}

/** One log for the whole run; what is set on it stands in each of its lines. */
final class Box_Log
{
    private array $items = [];
    private array $writers = [];
    public function __construct(private ?ArrayAccess $di = null)
    {
    }
    public function getDi(): ?ArrayAccess
    {
        return $this->di;
    }
    public function addWriter(object $writer): static
    {
        $this->writers[] = $writer;
        return $this;
    }
    public function setEventItem(string $name, mixed $value): static
    {
        $this->items[$name] = $value;
        return $this;
    }
    public function info(string $message): void
    {
        foreach ($this->writers as $writer) {
            $writer->write(['message' => $message, 'priority' => 6] + $this->items, 'application');
        }
    }
}

abstract class Server_Manager
{
    protected array $_config;
    private ?Box_Log $log = null;
    public function __construct(array $options)
    {
        $known = ['ip', 'host', 'secure', 'username', 'password', 'accesshash', 'config', 'port', 'passwordLength'];
        $this->_config = $options + array_fill_keys($known, null);
        $this->init();
    }
    protected function init()
    {
    }
    public function setLog(Box_Log $log): static
    {
        $this->log = $log;
        return $this;
    }
    public function getLog(): ?Box_Log
    {
        return $this->log ?? new Box_Log();
    }
    abstract public function getLoginUrl(?Server_Account $account);
    abstract public function getResellerLoginUrl(?Server_Account $account);
    abstract public function testConnection();
    abstract public function createAccount(Server_Account $account);
    abstract public function synchronizeAccount(Server_Account $account);
    abstract public function suspendAccount(Server_Account $account);
    abstract public function unsuspendAccount(Server_Account $account);
    abstract public function cancelAccount(Server_Account $account);
    abstract public function changeAccountPassword(Server_Account $account, string $newPassword);
    abstract public function changeAccountUsername(Server_Account $account, string $newUsername);
    abstract public function changeAccountDomain(Server_Account $account, string $newDomain);
    abstract public function changeAccountIp(Server_Account $account, string $newIp);
    abstract public function changeAccountPackage(Server_Account $account, Server_Package $package);
}

/** Each load answers an object of its own; a store writes all of its columns. */
final class Database
{
    public function __construct(public array $tables)
    {
    }
    public function load(string $model, int $id): ?object
    {
        return isset($this->tables[$model][$id]) ? (object) $this->tables[$model][$id] : null;
    }
    public function store(object $model): int
    {
        $this->tables['ServiceHosting'][$model->id] = (array) $model;
        return $model->id;
    }
    public function exec(string $sql, array $values): void
    {
        hold(str_starts_with($sql, 'INSERT IGNORE INTO setting (param, value, '), 'a setting is stored once');
        $this->tables['setting'][$values[0]] ??= $values[1];
    }
    public function getParamValue(string $name, mixed $default = null): mixed
    {
        return $this->tables['setting'][$name] ?? $default;
    }
}

// The finder takes every PHP file below the folder for a manager, and its page shows the label of each.
$library = getenv('MODULE') . '/library/Server/Manager';
foreach (new RecursiveIteratorIterator(new RecursiveDirectoryIterator($library, FilesystemIterator::SKIP_DOTS)) as $file) {
    $name = $file->getBasename('.php');
    require_once "$library/$name.php";
    hold(is_string("Server_Manager_$name"::getForm()['label']), "the manager $name has a label");
}
hurry();

['action' => $action, 'options' => $options, 'db' => $tables, 'plan' => $plan] = $given =
    json_decode(stream_get_contents(STDIN), true);
$db = new Database($tables);
$di = new ArrayObject(['db' => $db, 'mod_service' => fn (string $name) => $db]);
$order = $db->load('ClientOrder', $given['order'] ?? 81);
$service = $db->load('ServiceHosting', $order->service_id);
$client = $db->load('Client', $service->client_id);
$log = new Box_Log($di);
$isForOrder = $action !== 'test';
$manager = (new Server_Manager_Berth($options))->setLog($log);
if ($isForOrder) {
    $log->setEventItem('client_order_id', $order->id)->setEventItem('status', 'active');
}
if ($action === 'create') {
    // Made anew by each try, and stored when one succeeds.
    $service->username = $manager->generateUsername($service->sld . $service->tld);
    hold(is_string($service->username) && strlen($service->username) <= 20, 'the user name is short');
}
$person = (new Server_Client())->setEmail($client->email)->setFullName($client->name)->setCompany($client->company);
$package = new Server_Package($plan);
$account = (new Server_Account())->setClient($person)->setPackage($package)->setUsername($service->username)
    ->setDomain($service->sld . $service->tld)->setPassword('Made-up-1')->setIp($service->ip)->setReseller(false);

function act(Server_Manager $manager, string $action, Server_Account $account, Server_Package $package, Database $db, object $service): mixed
{
    $answer = match ($action) {
        'test' => $manager->testConnection(),
        'create' => $manager->createAccount($account),
        'suspend' => $manager->suspendAccount($account),
        'unsuspend' => $manager->unsuspendAccount($account),
        'upgrade' => $manager->changeAccountPackage($account, $package),
        'terminate' => $manager->cancelAccount($account),
        'status' => $manager->synchronizeAccount($account),
        'link' => $manager->getLoginUrl($account),
        'password' => $manager->changeAccountPassword($account, 'secret'),
    };
    if ($action === 'status') {
        hold($answer instanceof Server_Account && $answer !== $account, 'a synchronization answers a new account');
        $service->ip = $answer->getIp();
        $answer = ['ip' => $answer->getIp(), 'suspended' => $answer->getSuspended()];
    } elseif ($action === 'link') {
        hold(is_string($answer), 'the address to sign in is a text');
    } else {
        hold($answer === true, 'what succeeds answers true');
    }
    // Its own record as it was read before, whatever the manager stored meanwhile.
    $db->store($service);
    return $answer;
}
$error = $answer = null;
try {
    $answer = act($manager, $action, $account, $package, $db, $service);
} catch (Server_Exception $refused) {
    $error = $refused->getMessage();
}
unset($manager, $refused);
echo json_encode(['error' => $error, 'answer' => $answer, 'db' => $db->tables]);
