<?php
// A stand-in for FOSSBilling as its documentation describes server managers: the base class with the methods that a
// manager has to have, and the objects that it is given. Calls one method and holds its answer to the documentation.
require __DIR__ . '/hold.php';

class Server_Exception extends Exception
{
}

/** A record with get and set methods for its fields. */
abstract class Fields
{
    public function __construct(protected array $fields = [])
    {
    }
    public function __call(string $name, array $given): mixed
    {
        $field = lcfirst(substr($name, 3));
        hold(array_key_exists($field, $this->fields), static::class . " has a method $name");
        if (str_starts_with($name, 'get')) {
            return $this->fields[$field];
        }
        $this->fields[$field] = $given[0];
        return $this;
    }
    public function fields(): array
    {
        return array_filter($this->fields, fn ($value) => !is_object($value));
    }
}
final class Server_Client extends Fields
{
}
final class Server_Package extends Fields
{
    public function getCustomValue(string $name): mixed
    {
        return $this->fields['custom'][$name] ?? null;
    }
}
final class Server_Account extends Fields
{
}

abstract class Server_Manager
{
    protected array $_config;
    public function __construct(array $options)
    {
        $known = ['ip', 'host', 'secure', 'username', 'password', 'accesshash', 'config', 'port', 'passwordLength'];
        $this->_config = $options + array_fill_keys($known, null);
        $this->init();
    }
    protected function init()
    {
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

require getenv('MODULE') . '/Manager/Berth.php';
hurry();

['action' => $action, 'options' => $options, 'account' => $given, 'plan' => $plan] = json_decode(stream_get_contents(STDIN), true);
$form = Server_Manager_Berth::getForm();
hold(is_string($form['label']) && is_array($form['form']['credentials']['fields']), 'the form has a label and its credentials');
$manager = new Server_Manager_Berth($options);
if ($given['username'] === null) {
    $given['username'] = $manager->generateUsername($given['domain']);
    hold(is_string($given['username']) && strlen($given['username']) <= 20, 'the user name is short');
}
$client = new Server_Client(['id' => 4711, 'email' => 'cal@example.com', 'fullName' => 'Cal Customer', 'company' => 'FOSSBilling']);
$package = new Server_Package(['custom' => $plan]);
$account = new Server_Account($given + ['client' => $client, 'package' => $package]);
try {
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
        $answer = $answer->fields();
    } elseif ($action === 'link') {
        hold(is_string($answer), 'the address to sign in is a text');
    } else {
        hold($answer === true, 'what succeeds answers true');
    }
    echo json_encode(['error' => null, 'answer' => $answer, 'account' => $account->fields()]);
} catch (Server_Exception $error) {
    echo json_encode(['error' => $error->getMessage(), 'answer' => null, 'account' => $account->fields()]);
}
